import { accessSync, constants, type Dirent, readdirSync } from 'node:fs';

/** The entries of a folder; none where it cannot be listed. */
export function readFolder(path: string): Dirent[] {
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
export function isClosed(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES';
  }
}
