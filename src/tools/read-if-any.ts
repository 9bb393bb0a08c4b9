import { readFileSync, realpathSync } from 'node:fs';

/** The text of a file; none where it cannot be read. */
export function readIfAny(path: string): string {
  try {
    return readFileSync(path, 'utf8');
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
