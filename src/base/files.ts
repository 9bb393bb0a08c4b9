import { randomBytes } from 'node:crypto';
import { realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { readRegularFile } from './read-file.ts';

/** The most bytes of a file that git or hopgate keeps its settings in. */
const MAX_BYTES = 16 << 20;

/** The text of a regular file; none where it cannot be read, or is larger than such a file can be. */
export function readIfAny(path: string): string {
  try {
    return readRegularFile(path, MAX_BYTES).toString('utf8');
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

/** Puts a text in the place of a file: readers see the old text or the whole new one. */
export function writeAtomically(file: string, text: string, mode = 0o600): void {
  const made = `${file}.${process.pid}-${randomBytes(6).toString('hex')}`;
  try {
    writeFileSync(made, text, { mode, flag: 'wx' });
    renameSync(made, file);
  } catch (error) {
    rmSync(made, { force: true });
    throw error;
  }
}
