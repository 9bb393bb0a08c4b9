import { escapeInvisible } from '../../base/text.ts';
import { valueOr } from '../../base/value-or.ts';
import type { Json } from '../../spec/types.ts';
import type { Anchor, Anchors } from './anchors.ts';

/** Names that an argument cannot express contain control characters or are not UTF-8. */
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
/** Maximum number of names that are listed; all are counted. */
const LISTED = 20;

/** The functions of a search root (see `search-root.ts`) for names that an argument cannot express. */
interface OddHolder {
  holdOdd(path: Buffer): Anchor | null;
  rootRelative(path: string): string;
}

/** Removes ripgrep's `./` prefix. */
export const removeDotSlash = (path: Buffer): Buffer =>
  path[0] === 0x2e && path[1] === 0x2f ? path.subarray(2) : path;

/** Decodes a path; null if an argument cannot express it. */
export function decodePath(path: Uint8Array): string | null {
  const text = textOf(path);
  return text === null || CONTROL.test(text) ? null : text;
}

const textOf = (path: Uint8Array): string | null => valueOr(() => strict.decode(path), null);

/** Formats a path for display: invisible characters as `\u{a}`, bytes that are not UTF-8 as `\xff`. */
export function formatPathBytes(path: Uint8Array): string {
  const text = textOf(path);
  if (text !== null) return escapeInvisible(text);
  const ascii = (byte: number) => (byte < 0x80 ? String.fromCharCode(byte) : `\\x${byte.toString(16)}`);
  return escapeInvisible([...path].map(ascii).join(''));
}

/** Holds a regular file by the bytes of its name, each folder by descriptor; null for anything else. */
export function holdFileByBytes(root: string, path: Buffer, anchors: Anchors): Anchor | null {
  let here = anchors.root(root);
  for (const name of segmentsOf(path)) {
    const folder = here;
    try {
      const next = folder.stat.isDirectory() ? anchors.child(folder, name) : null;
      if (next === null) return null;
      here = next;
    } catch (error) {
      if (['EACCES', 'EPERM', 'ENAMETOOLONG'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
      throw error;
    } finally {
      folder.close();
    }
  }
  if (here.stat.isFile()) return here;
  here.close();
  return null;
}

function segmentsOf(path: Buffer): Buffer[] {
  const segments: Buffer[] = [];
  for (let start = 0; start <= path.length; ) {
    const slash = path.indexOf(0x2f, start);
    const end = slash < 0 ? path.length : slash;
    segments.push(path.subarray(start, end));
    start = end + 1;
  }
  return segments;
}

/** Collects the found files that no tool can take as an argument, so that the result names them. */
export class OddNames {
  readonly #seen = new Set<string>();

  /** An existing, readable file. */
  add({ holdOdd, rootRelative }: OddHolder, path: Buffer): void {
    const held = holdOdd(path);
    if (!held) return;
    held.close();
    this.#seen.add(rootRelative(formatPathBytes(path)));
  }

  /** The part of a search's result that lists these names; empty if there are none. */
  get part(): { [key: string]: Json } {
    if (this.#seen.size === 0) return {};
    const files = [...this.#seen].sort();
    return {
      leftOut: {
        count: files.length,
        files: files.slice(0, LISTED),
        why: 'Their names hold control characters or are not UTF-8, so no file tool takes them; rename them, or use a shell command with a glob such as cat dir/*.',
      },
    };
  }
}
