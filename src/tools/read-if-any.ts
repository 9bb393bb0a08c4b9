import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync } from 'node:fs';

/** More than any text that git or hopgate keeps in one file. */
const MOST_BYTES = 16 << 20;

/** The text of a regular file; none where it cannot be read, is longer than 16 MiB, or is something else, such as a device without an end. */
export function readIfAny(path: string): string {
  try {
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = fstatSync(fd);
      return stats.isFile() && stats.size <= MOST_BYTES ? readFileSync(fd, 'utf8') : '';
    } finally {
      closeSync(fd);
    }
  } catch {
    return '';
  }
}

/** Where a path leads; null if nowhere. */
export function realpathIfAny(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}
