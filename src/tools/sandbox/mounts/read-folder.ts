import { accessSync, constants, type Dirent, lstatSync, readdirSync } from 'node:fs';
import { valueOr } from '../../../base/value-or.ts';
import { LayoutError } from '../layout-error.ts';

/** Maximum length of a path, below Linux's 4,096 bytes, so that hopgate can add prefixes and temporary names. */
const MAX_PATH = 3900;

/** True if a path is too long for the system, or nearly. */
export const isPathTooLong = (path: string): boolean => Buffer.byteLength(path) > MAX_PATH;

/**
 * The entries of a folder; empty if it cannot be listed.
 * @throws LayoutError if its path is longer than the system allows
 */
export function readFolder(path: string): Dirent[] {
  if (isPathTooLong(path))
    throw new LayoutError(`a folder is nested too deep to be read; delete or move it: ${path.slice(0, 200)}…`);
  // The folder may disappear during the walk.
  return valueOr(() => readdirSync(path, { withFileTypes: true }), [], ['EACCES', 'ENOENT', 'ENOTDIR', 'ELOOP']);
}

/** True if hopgate may not list an existing folder. Masks cannot hold there: a command may know names in it. */
export function isUnlistableFolder(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES';
  }
}

/** A folder, and its state before its entries were read. */
export interface FolderState {
  readonly path: string;
  /** The folder's state, which differs after each change of its entries; null if the folder has just changed. */
  readonly stamp: bigint | null;
}

/** A folder needs this time without a change, because it may change again within the same clock tick. */
const SETTLED_MS = 100;

/** The state of a folder, by its change time (ctime), which no program can reset; null if it has just changed. */
export function folderStateStamp(path: string): bigint | null {
  const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (!stat?.isDirectory()) return null;
  return Date.now() - Number(stat.ctimeMs) > SETTLED_MS ? stat.ctimeNs * 1_000_003n + stat.ino : null;
}
