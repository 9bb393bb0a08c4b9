import { realpathSync } from 'node:fs';
import { readRegularFile } from '../base/read-file.ts';
import { MAX_SETTINGS_BYTES } from '../spec/policy/limits.ts';

/** The text of a regular file; none where it cannot be read, or is larger than such a file can be. */
export function readIfAny(path: string): string {
  try {
    return readRegularFile(path, MAX_SETTINGS_BYTES).toString('utf8');
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
