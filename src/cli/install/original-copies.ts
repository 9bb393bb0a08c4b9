import { hash } from 'node:crypto';
import { join } from 'node:path';
import { fieldsOf } from '../../base/json.ts';
import { userStateFolder } from '../../base/user-folders.ts';
import { makeOwnFileChange, readTextOrNull } from './apply-install.ts';
import type { FileChange, InstallTarget } from './installer.ts';

/** A file's text before an installation (null if there was no file), and the hash of the installed text. */
interface StoredOriginal {
  readonly before: string | null;
  readonly installed: string;
}

/** Copies of the files that an installation changed, by path. */
interface OriginalCopies {
  readonly path: string;
  readonly files: { readonly [path: string]: StoredOriginal };
}

const hashOf = (text: string): string => hash('sha256', text);

/** The copies of one installation, in the state folder. @param folder the folder that the installation writes to */
export function readOriginalCopies({ io }: InstallTarget, folder: string): OriginalCopies {
  const path = join(userStateFolder(io.env), `before-install-${hashOf(folder).slice(0, 16)}.json`);
  try {
    return { path, files: fieldsOf(JSON.parse(readTextOrNull(path) ?? '{}')) as OriginalCopies['files'] };
  } catch {
    return { path, files: {} }; // A damaged file counts as no copies: the uninstallation then removes each added part.
  }
}

/**
 * The change that stores copies for an installation. A file gets no copy if it was changed since the last
 * installation, or if it contained hopgate's parts before the first installation.
 * @param isPlain true if a file, by its path, contains nothing that hopgate wrote
 */
export function changeThatStoresCopies(
  { path, files }: OriginalCopies,
  changes: readonly FileChange[],
  isPlain: (path: string) => boolean,
): FileChange {
  const copies = changes.flatMap(({ path: file, before, after }): readonly (readonly [string, StoredOriginal])[] => {
    const stored = files[file];
    const isInstalled = stored !== undefined && before !== null && hashOf(before) === stored.installed;
    if (after === null || !(isInstalled || isPlain(file))) return [];
    return [[file, { before: isInstalled ? stored.before : before, installed: hashOf(after) }]];
  });
  return makeOwnFileChange(path, `${JSON.stringify(Object.fromEntries(copies))}\n`);
}

/** The changes of an uninstallation: a file that nobody changed since the installation gets its earlier bytes back. */
export function changesThatRestoreCopies(
  { path, files }: OriginalCopies,
  changes: readonly FileChange[],
): readonly FileChange[] {
  const restored = changes.map((change) => {
    const stored = files[change.path];
    const isUnchanged = stored !== undefined && change.before !== null && hashOf(change.before) === stored.installed;
    return isUnchanged ? { ...change, after: stored.before } : change;
  });
  return [...restored, makeOwnFileChange(path, null)];
}
