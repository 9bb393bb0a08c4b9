import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { readRegularFile } from './read-file.ts';

/** Maximum size of a settings file of git or hopgate. */
const MAX_BYTES = 16 << 20;

/** The text of a regular file; empty if it cannot be read or is larger than a settings file can be. */
export function readIfAny(path: string): string {
  try {
    return readRegularFile(path, MAX_BYTES).toString('utf8');
  } catch {
    return '';
  }
}

/** True if the path exists. Unlike `existsSync`, it throws if a folder of the path may not be searched. */
export const isThere = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined;

export function realpathIfAny(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

/** The names in a folder; empty if it cannot be listed. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Works as `mkdir -p`. Node's own recursive mkdir never returns for a folder under `/proc` (24.21). */
export function makeFolders(dir: string, mode = 0o777): void {
  if (existsSync(dir)) return;
  const parent = dirname(dir);
  if (parent !== dir) makeFolders(parent, mode);
  try {
    mkdirSync(dir, { mode });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Replaces the text of a file; readers see the old text or the complete new one. */
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
