import { readlinkSync } from 'node:fs';
import { valueOr } from '../../base/value-or.ts';
import type { Anchor, Anchors } from './anchors.ts';
import { pathSegments, pathSegmentsBelow } from './path-argument.ts';

/** Maximum number of followed links; more count as a loop, as in the kernel. */
const MAX_LINKS = 40;
/** A walk restarts at each link and at each `..` in a link. This limits the work that a hostile tree can cause. */
const MAX_RESTARTS = 400;

/** The result of a path walk under the root. The caller must close what the result holds open. */
type WalkedPath =
  | ExistingPath
  | PathToCreate
  | { readonly kind: 'leaves'; readonly link: string }
  | { readonly kind: 'not-a-folder'; readonly at: string }
  | { readonly kind: 'too-many-links' }
  | { readonly kind: 'dangling' };

export interface ExistingPath {
  readonly kind: 'file' | 'folder' | 'special';
  /** Real path as segments under the root, with links resolved. */
  readonly real: readonly string[];
  readonly anchor: Anchor;
  /** The folder that contains the object; null for the root. */
  readonly parent: Anchor | null;
  close(): void;
}

export interface PathToCreate {
  readonly kind: 'missing';
  /** The real path that the missing file would have, as segments under the root. */
  readonly real: readonly string[];
  /** The deepest folder that exists. */
  readonly parent: Anchor;
  /** The names to create in `parent`; the file's name is the last. */
  readonly names: readonly string[];
  close(): void;
}

/** A walk from the root: its segments, the number of links followed so far, and the last followed link. */
interface Restart {
  readonly segments: readonly string[];
  readonly links: number;
  readonly link: string;
}

/**
 * Walks from the root along `segments`, one name at a time, holding each folder while it opens the next. A link is read
 * and its target is walked under the root too, so no step can leave the root, even if other processes change the tree.
 */
export function walkPathBeneath(root: string, segments: readonly string[], anchors: Anchors): WalkedPath {
  let restart: Restart = { segments, links: 0, link: '' };
  for (let restarts = 0; restarts <= MAX_RESTARTS && restart.links <= MAX_LINKS; restarts++) {
    const result = walkOnce(root, restart, anchors);
    if ('kind' in result) return result;
    restart = result;
  }
  return { kind: 'too-many-links' };
}

function walkOnce(root: string, restart: Restart, anchors: Anchors): WalkedPath | Restart {
  const { segments } = restart;
  let parent: Anchor | null = null;
  let here = anchors.root(root);
  let keep = false;
  const close = () => {
    here.close();
    parent?.close();
  };
  try {
    const real: string[] = [];
    for (const [i, name] of segments.entries()) {
      const rest = segments.slice(i + 1);
      if (!here.stat.isDirectory()) return { kind: 'not-a-folder', at: real.join('/') };
      if (name === '..') {
        if (real.length === 0) return { kind: 'leaves', link: restart.link };
        return { ...restart, segments: [...real.slice(0, -1), ...rest] };
      }
      const next = anchors.child(here, name);
      if (next === null) {
        if (rest.includes('..')) return { kind: 'dangling' };
        keep = true;
        return { kind: 'missing', real: [...real, name, ...rest], parent: here, names: [name, ...rest], close };
      }
      if (next.stat.isSymbolicLink()) {
        next.close();
        const target = readLink(`${here.path}/${name}`);
        if (target === null) return { ...restart, segments: [...real, name, ...rest] };
        const below = pathSegmentsBelow(root, target);
        const link = [...real, name].join('/');
        if (below === null) return { kind: 'leaves', link };
        const start = target.startsWith('/') ? [] : real;
        return { segments: [...start, ...pathSegments(below.join('/')), ...rest], links: restart.links + 1, link };
      }
      parent?.close();
      parent = here;
      here = next;
      real.push(name);
    }
    keep = true;
    const kind = here.stat.isDirectory() ? 'folder' : here.stat.isFile() ? 'file' : 'special';
    return { kind, real, anchor: here, parent, close };
  } finally {
    if (!keep) close();
  }
}

const readLink = (path: string): string | null => valueOr(() => readlinkSync(path), null, ['EINVAL', 'ENOENT']);
