import { readlinkSync } from 'node:fs';
import type { Anchor, Anchors } from './anchors.ts';
import { segmentsBelow, split } from './path-argument.ts';

/** As the kernel: more links than this are a loop. */
const MAX_LINKS = 40;
/** Walks start over at each link and each `..` in one; this bounds what a hostile tree can make us do. */
const MAX_RESTARTS = 400;

/** What a walk beneath the root came upon. Whoever gets a place that is held closes it. */
export type Place =
  | Existing
  | Missing
  | { readonly kind: 'leaves'; readonly link: string }
  | { readonly kind: 'not-a-folder'; readonly at: string }
  | { readonly kind: 'too-many-links' }
  | { readonly kind: 'dangling' };

export interface Existing {
  readonly kind: 'file' | 'folder' | 'special';
  /** Where it really is, as segments below the root, all links resolved. */
  readonly real: readonly string[];
  readonly anchor: Anchor;
  /** The folder that it is in; null for the root. */
  readonly parent: Anchor | null;
  close(): void;
}

export interface Missing {
  readonly kind: 'missing';
  /** Where it would be. */
  readonly real: readonly string[];
  /** The deepest folder that exists. */
  readonly parent: Anchor;
  /** The names to make below `parent`, the file's own name last. */
  readonly names: readonly string[];
  close(): void;
}

/** What is left to walk, from the root; `link` is the last link that was followed. */
interface Turn {
  readonly again: readonly string[];
  readonly links: number;
  readonly link: string;
}

/**
 * Walks from the root along `segments`, one name at a time, holding each folder while it opens the next. A link is read and walked beneath the
 * root as well, so no step can lead out of it, whatever others do to the tree meanwhile.
 */
export function walkBeneath(root: string, segments: readonly string[], anchors: Anchors): Place {
  let turn: Turn = { again: segments, links: 0, link: '' };
  for (let restarts = 0; restarts <= MAX_RESTARTS && turn.links <= MAX_LINKS; restarts++) {
    const result = walkOnce(root, turn, anchors);
    if ('kind' in result) return result;
    turn = result;
  }
  return { kind: 'too-many-links' };
}

function walkOnce(root: string, turn: Turn, anchors: Anchors): Place | Turn {
  const { again } = turn;
  let parent: Anchor | null = null;
  let here = anchors.root(root);
  let keep = false;
  const close = () => {
    here.close();
    parent?.close();
  };
  try {
    const real: string[] = [];
    for (const [i, name] of again.entries()) {
      const rest = again.slice(i + 1);
      if (!here.stat.isDirectory()) return { kind: 'not-a-folder', at: real.join('/') };
      if (name === '..') {
        if (real.length === 0) return { kind: 'leaves', link: turn.link };
        return { ...turn, again: [...real.slice(0, -1), ...rest] };
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
        if (target === null) return { ...turn, again: [...real, name, ...rest] };
        const below = segmentsBelow(root, target);
        const link = [...real, name].join('/');
        if (below === null) return { kind: 'leaves', link };
        const start = target.startsWith('/') ? [] : real;
        return { again: [...start, ...split(below.join('/')), ...rest], links: turn.links + 1, link };
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

/** null: it is no link any more. */
function readLink(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EINVAL' || code === 'ENOENT') return null;
    throw error;
  }
}
