import type { Dirent, Stats } from 'node:fs';
import { join } from 'node:path';
import { lstatIfAny } from '../base/files.ts';
import { getOrInsert } from '../base/get-or-insert.ts';
import { isGitCredential } from '../gate/scope/masks.ts';
import { isPathTooLong, readFolder } from './sandbox/mounts/read-folder.ts';

type NamedEntry = Pick<Dirent, 'name' | 'isDirectory'>;

/** True for a folder in which git may find objects and refs: a repository, or the target of a `commondir` file. */
export const isGitFolder = (entries: readonly NamedEntry[]): boolean => hasNames(entries, 'objects', 'refs');

/** True if git reads a configuration in a folder of any name: a repository, or the entry of a linked work tree. */
export function isConfiguredGitFolder(folder: string, entries: readonly NamedEntry[]): boolean {
  if (entries.some((entry) => entry.name === 'HEAD' && !entry.isDirectory()))
    return isGitFolder(entries) || hasNames(entries, 'commondir');
  return isGitFolder(entries) && isGitObjectStore(readFolder(join(folder, 'objects')));
}

export const isGitObjectStore = (entries: readonly NamedEntry[]): boolean =>
  hasNames(entries, 'pack') && entries.some(({ name }) => name === 'info' || /^[0-9a-f]{2}$/.test(name));

/** Folders that git itself writes in a git folder. */
const GIT_OWN_FOLDERS = ['objects', 'refs', 'logs', 'hooks', 'info', 'lfs'];

export const isFolderOfGitItself = (name: string): boolean => GIT_OWN_FOLDERS.includes(name);

/** True for a name in a git folder that only git may write, even if the root itself is the git folder. */
export const isNameOfGitItself = (name: string): boolean => isGitCredential(name) || isFolderOfGitItself(name);

const hasNames = (entries: readonly NamedEntry[], ...names: readonly string[]): boolean =>
  names.every((name) => entries.some((entry) => entry.name === name));

/** Looks up the entries by which git recognizes a folder as its own. The folder's other entries are not read. */
const gitEntries = (folder: string): NamedEntry[] =>
  ['HEAD', 'objects', 'refs', 'commondir'].flatMap((name) => {
    const stat = entryIfAny(join(folder, name));
    return stat ? [{ name, isDirectory: () => stat.isDirectory() }] : [];
  });

function entryIfAny(path: string): Stats | undefined {
  try {
    return lstatIfAny(path);
  } catch (error) {
    if (['EACCES', 'ENOTDIR', 'ELOOP'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

/** Detects paths in git folders of any name. Reads each folder once. */
interface GitPathDetector {
  /** True if git keeps credentials in the file with this root-relative path. */
  holdsCredential(path: string): boolean;
  /** True if the path is or lies in a git folder. If the root is one, only git's own names in it count. */
  holds(path: string): boolean;
}

export function detectGitPaths(root: string): GitPathDetector {
  const checkedFolders = new Map<string, boolean>();
  const check = (path: string) => isPathTooLong(path) || isConfiguredGitFolder(path, gitEntries(path));
  const isGitFolderAt = (folder: string): boolean =>
    getOrInsert(checkedFolders, folder, () => check(join(root, folder)));
  const parentOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf('/')));
  const holds = (path: string): boolean =>
    isGitFolderAt(path) || (path.includes('/') ? holds(parentOf(path)) : isNameOfGitItself(path) && isGitFolderAt(''));
  return {
    holds,
    holdsCredential: (path) => isGitCredential(path.slice(path.lastIndexOf('/') + 1)) && isGitFolderAt(parentOf(path)),
  };
}
