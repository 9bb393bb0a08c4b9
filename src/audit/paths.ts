import { MAX_PATH_BYTES } from '../spec/policy/limits.ts';

export type Place = { readonly inside: true; readonly path: string } | { readonly inside: false; readonly why: string };

const split = (path: string): string[] => path.split('/').filter((segment) => segment !== '' && segment !== '.');

/**
 * Where a path leads beneath an absolute root, walking it name by name. The root itself is the empty path.
 * @example placeOf('/repo', 'src/../docs/a.md') // { inside: true, path: 'docs/a.md' }
 */
export function placeOf(root: string, path: unknown): Place {
  if (typeof path !== 'string') return { inside: false, why: 'it is no path' };
  if (root !== remembered.root || remembered.places.size >= MAX_REMEMBERED) remembered = { root, places: new Map() };
  let place = remembered.places.get(path);
  if (!place) {
    place = walk(root, path);
    remembered.places.set(path, place);
  }
  return place;
}

// Sessions name the same paths again and again; the walk depends on nothing else.
const MAX_REMEMBERED = 4096;
let remembered: { root: string; places: Map<string, Place> } = { root: '', places: new Map() };

function walk(root: string, path: string): Place {
  if (path === '') return { inside: false, why: 'it is no path' };
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return { inside: false, why: 'it is longer than any path' };
  if (hasControl(path)) return { inside: false, why: 'it holds a control character' };
  const home = split(root);
  const walked = path.startsWith('/') ? [] : [...home];
  for (const name of split(path)) {
    if (name === '..') walked.pop();
    else walked.push(name);
  }
  const inside = home.every((name, index) => walked[index] === name);
  return inside
    ? { inside: true, path: walked.slice(home.length).join('/') }
    : { inside: false, why: 'it leads out of the root' };
}

/** Whether a root-relative path is one of the granted places or lies beneath one, name by name. */
export function liesIn(path: string, places: readonly string[]): boolean {
  const names = split(path);
  return places.some((place) => split(place).every((name, index) => names[index] === name));
}

function hasControl(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < 0x20 || code === 0x7f) return true;
  }
  return false;
}
