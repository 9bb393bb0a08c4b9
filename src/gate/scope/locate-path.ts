import { posix } from 'node:path';
import { MAX_PATH_BYTES, URL_START_PATTERN } from '../../spec/policy/limits.ts';

/** A root-relative path, or the kind of fault in the text (`form` if it is not a path) and a clause for the agent. */
type PathLocation =
  | { readonly ok: true; readonly path: string }
  | { readonly ok: false; readonly fault: 'outside' | 'control-character' | 'form'; readonly why: string };

const malformed = (why: string): PathLocation => ({ ok: false, fault: 'form', why });

/**
 * Resolves a path that an agent wrote to a root-relative one, by its text alone: `./src/a`, `src/x/../a` and an
 * absolute path inside the root all become `src/a`; the root itself is `.`. The tool follows links and checks the real
 * path again.
 */
export function locatePath(root: string, text: unknown): PathLocation {
  if (typeof text !== 'string') return malformed('a path must be a string');
  if (text === '') return malformed('the path is empty');
  if (/[\u0000-\u001f\u007f-\u009f]/.test(text))
    return { ok: false, fault: 'control-character', why: 'the path contains a control character' };
  if (URL_START_PATTERN.test(text)) return malformed('the path is a URL');
  if (!text.isWellFormed()) return malformed('the path is not well-formed Unicode');
  if (Buffer.byteLength(text) > MAX_PATH_BYTES) return malformed(`the path is longer than ${MAX_PATH_BYTES} bytes`);
  const absolute = posix.resolve(root, text);
  const path = posix.relative(root, absolute);
  if (path === '..' || path.startsWith('../') || posix.isAbsolute(path))
    return { ok: false, fault: 'outside', why: 'the path is outside the root' };
  return { ok: true, path: path === '' ? '.' : path };
}

/** True if `path` is one of the folders or files, or inside one. Whole names count: `src-evil/a` is not in `src`. */
export function isPathWithinAny(folders: readonly string[], path: string): boolean {
  return folders.some((folder) => {
    const base = posix.normalize(folder).replace(/(?<!\/)\/+$/, '');
    return base === '.' || path === base || path.startsWith(`${base}/`);
  });
}
