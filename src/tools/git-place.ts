import type { Dirent } from 'node:fs';
import { join } from 'node:path';
import { isGitCredential } from '../gate/scope/masks.ts';
import { isTooDeep, readFolder } from './sandbox/mounts/read-folder.ts';

/** Where git may find objects and refs: in a repository, or in a folder that the file `commondir` of another one names. */
export const isGitFolder = (entries: readonly Dirent[]): boolean => has(entries, 'objects', 'refs');

/** Whether git reads a configuration in a folder, whatever it is called: a repository, or the entry of a linked work tree. */
export function isGitPlace(folder: string, entries: readonly Dirent[]): boolean {
  if (entries.some((entry) => entry.name === 'HEAD' && !entry.isDirectory()))
    return isGitFolder(entries) || has(entries, 'commondir');
  return isGitFolder(entries) && isObjectStore(readFolder(join(folder, 'objects')));
}

export const isObjectStore = (entries: readonly Dirent[]): boolean =>
  has(entries, 'pack') && entries.some(({ name }) => name === 'info' || /^[0-9a-f]{2}$/.test(name));

const has = (entries: readonly Dirent[], ...wanted: readonly string[]): boolean =>
  wanted.every((name) => entries.some((entry) => entry.name === name));

/** What holds no configuration, and may hold very many files. */
export const SKIPPED_IN_GIT: ReadonlySet<string> = new Set(['objects', 'refs', 'logs', 'hooks', 'info', 'lfs']);

/** Tells paths in git folders whose names do not show it. Looks at each folder once. */
export interface GitPlaces {
  /** Whether git keeps credentials in the file of this root-relative path. */
  holdsCredential(path: string): boolean;
  /** Whether the root-relative path lies in such a folder, or is one. The root itself does not count. */
  holds(path: string): boolean;
}

export function gitPlaces(root: string): GitPlaces {
  const known = new Map<string, boolean>();
  const isPlace = (folder: string): boolean => {
    const path = join(root, folder);
    const place = known.get(folder) ?? (isTooDeep(path) || isGitPlace(path, readFolder(path)));
    known.set(folder, place);
    return place;
  };
  const parentOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf('/')));
  const holds = (path: string): boolean => path !== '' && (isPlace(path) || holds(parentOf(path)));
  return {
    holds,
    holdsCredential: (path) => isGitCredential(path.slice(path.lastIndexOf('/') + 1)) && isPlace(parentOf(path)),
  };
}
