import { accessSync, constants, type Dirent, readdirSync } from 'node:fs';
import { LayoutError } from '../layout-error.ts';

/** Linux takes no path of 4096 bytes; what we put in front of one, and temporary names beside it, have room. */
const LONGEST_PATH = 3900;

/** Whether a path is too long for the system, or nearly. */
export const isTooDeep = (path: string): boolean => Buffer.byteLength(path) > LONGEST_PATH;

/**
 * The entries of a folder; none where it cannot be listed.
 *
 * @throws LayoutError if it lies deeper than a path can say
 */
export function readFolder(path: string): Dirent[] {
  if (isTooDeep(path))
    throw new LayoutError(`a folder lies too deep to look into; delete it or move it: ${path.slice(0, 200)}…`);
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    // It may vanish while we walk.
    if (['EACCES', 'ENOENT', 'ENOTDIR', 'ELOOP'].includes(code ?? '')) return [];
    throw error;
  }
}

/**
 * Whether a folder is there and may not be listed by us. Still a command may know the names in it, or change its permissions in an overlay; of those
 * names nobody can tell which are masked.
 */
export function isUnlistable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES';
  }
}
