import { escapeInvisible } from '../../base/text.ts';
import { valueOr } from '../../base/value-or.ts';
import type { Json } from '../../spec/types.ts';
import type { Anchor, Anchors } from './anchors.ts';

/** A name with a control character cannot be given as an argument, and neither can a name that is not UTF-8. */
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
/** Maximum number of listed names; all are counted. */
const LISTED = 20;

/** Removes ripgrep's `./` prefix. */
export const removeDotSlash = (path: Buffer): Buffer =>
  path[0] === 0x2e && path[1] === 0x2f ? path.subarray(2) : path;

/** Decodes a path; null if an argument cannot express it. */
export function decodeNameablePath(path: Uint8Array): string | null {
  const text = decodeUtf8(path);
  return text === null || CONTROL.test(text) ? null : text;
}

const decodeUtf8 = (path: Uint8Array): string | null => valueOr(() => strict.decode(path), null);

/** Formats a path for display: invisible characters as `\u{a}`, bytes that are not UTF-8 as `\xff`. */
function formatPathBytes(path: Uint8Array): string {
  const text = decodeUtf8(path);
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
export class UnnameableFiles {
  readonly #files = new Set<string>();

  /** Adds a file that a search found, if it exists and may be read. */
  add(
    { holdByBytes, rootRelative }: { holdByBytes(path: Buffer): Anchor | null; rootRelative(path: string): string },
    path: Buffer,
  ): void {
    const held = holdByBytes(path);
    if (!held) return;
    held.close();
    this.#files.add(rootRelative(formatPathBytes(path)));
  }

  /** The field of a search's result that lists these files; empty if there are none. */
  get field(): { [key: string]: Json } {
    if (this.#files.size === 0) return {};
    const files = [...this.#files].sort();
    return {
      leftOut: {
        count: files.length,
        files: files.slice(0, LISTED),
        why: 'Their names hold control characters or are not UTF-8, so no file tool takes them until they are renamed.',
      },
    };
  }
}
