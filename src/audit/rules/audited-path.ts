import { getOrInsert } from '../../base/get-or-insert.ts';
import { compileGlob } from '../../base/glob.ts';
import { isExcludingPattern, relativePathProblem } from '../../spec/path-patterns.ts';
import { MAX_PATH_BYTES } from '../../spec/policy/limits.ts';
import { isMaskedPath } from './protected-paths.ts';

/** A path as a text names it: inside or outside of the root. `isPath` is false if no file system accepts the text. */
type AuditedPath =
  | { readonly inside: true; readonly path: string }
  | { readonly inside: false; readonly isPath: boolean; readonly why: string };

const notAPath = (why: string): AuditedPath => ({ inside: false, isPath: false, why });

const split = (path: string): string[] => path.split('/').filter((segment) => segment !== '' && segment !== '.');

/**
 * Walks a path name by name from an absolute root. The root itself is the empty path.
 * @example resolvePathInRoot('/repo', 'src/../docs/a.md') // { inside: true, path: 'docs/a.md' }
 */
export function resolvePathInRoot(root: string, path: unknown): AuditedPath {
  if (typeof path !== 'string') return notAPath('the value is not a path');
  if (root !== remembered.root || remembered.paths.size >= MAX_REMEMBERED) remembered = { root, paths: new Map() };
  return getOrInsert(remembered.paths, path, () => walk(root, path));
}

// A cache, because sessions name the same paths often. The result depends only on the root and the path.
const MAX_REMEMBERED = 4096;
let remembered: { root: string; paths: Map<string, AuditedPath> } = { root: '', paths: new Map() };

function walk(root: string, path: string): AuditedPath {
  if (path === '') return notAPath('the value is not a path');
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return notAPath('the path is too long');
  if (hasControl(path)) return notAPath('the path contains a control character');
  if (leadsElsewhere(path)) return notAPath('the path is an address');
  const home = split(root);
  const walked = path.startsWith('/') ? [] : [...home];
  for (const name of split(path)) {
    if (name === '..') walked.pop();
    else walked.push(name);
  }
  const inside = home.every((name, index) => walked[index] === name);
  return inside
    ? { inside: true, path: walked.slice(home.length).join('/') }
    : { inside: false, isPath: true, why: 'the path leads out of the root' };
}

/** True if a root-relative path is one of `paths`, or lies in one of them. */
export function isWithinPaths(path: string, paths: readonly string[]): boolean {
  const names = split(path);
  return paths.some((folder) => split(folder).every((name, index) => names[index] === name));
}

/**
 * True if the write paths of a scope grant a root-relative path. One of them must match the path or a folder above it,
 * and no exclusion (`!dist/`) may match it as a mask would.
 */
export function isWritablePath(path: string, write: readonly string[]): boolean {
  const { tests, excluded } = getOrInsert(granting, write, () => ({
    tests: write.filter((place) => !isExcludingPattern(place)).map(grantTest),
    excluded: write.filter(isExcludingPattern).map((place) => place.slice(1)),
  }));
  // An empty list is left out, because every list of masks also hides git's credentials.
  return tests.some((test) => test(split(path))) && !(excluded.length > 0 && isMaskedPath(path, excluded));
}

type GrantTest = (names: readonly string[]) => boolean;
const granting = new WeakMap<
  readonly string[],
  { readonly tests: readonly GrantTest[]; readonly excluded: readonly string[] }
>();

function grantTest(place: string): GrantTest {
  const names = split(place);
  if (relativePathProblem(place) !== null) return () => false;
  if (names.length === 0) return () => true;
  const matches = compileGlob(names.join('/'));
  const isWild = names.some((name) => /[*?[{(]/.test(name));
  const foldersOnly = isWild && place.endsWith('/');
  return (path) => {
    const longest = foldersOnly ? path.length - 1 : path.length;
    for (let length = 0; length <= longest; length++) if (matches(path.slice(0, length))) return true;
    return false;
  };
}

/** True for a URL: a scheme before `://`, or the scheme `file`, which needs no `//`. */
function leadsElsewhere(path: string): boolean {
  const [scheme = '', ...rest] = path.split(':');
  return rest[0]?.startsWith('//')
    ? /^[a-z][a-z0-9+.-]*$/i.test(scheme)
    : rest.length > 0 && scheme.toLowerCase() === 'file';
}

function hasControl(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < 0x20 || (code >= 0x7f && code <= 0x9f)) return true;
  }
  return false;
}
