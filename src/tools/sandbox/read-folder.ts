import { type Dirent, readdirSync } from 'node:fs';

/** The entries of a folder; none where it cannot be listed. */
export function readFolder(path: string): Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    // Whoever cannot list it cannot list it in the sandbox either; and it may vanish while we walk.
    if (code === 'EACCES' || code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw error;
  }
}
