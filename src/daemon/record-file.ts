import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { writeAtomically } from '../base/files.ts';

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/** Puts JSON in the place of a file, all or nothing, readable by the user alone. */
export function writeRecord(file: string, value: unknown): void {
  writeAtomically(file, JSON.stringify(value));
}

/** As {@link writeRecord}, for a file that nobody looks for before this has returned; one that is cut off counts as none. */
export function writeTicket(file: string, value: unknown): void {
  writeFileSync(file, JSON.stringify(value), { mode: 0o600 });
}

/** What a file holds; null if it is not there. */
export function readRecord<T>(file: string): T | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** Reads a file and removes it: of several who try, one gets it. null where there is none, or none that is whole. */
export function takeRecord<T>(file: string): T | null {
  const mine = `${file}.${process.pid}-${randomBytes(6).toString('hex')}`;
  try {
    renameSync(file, mine);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
  try {
    return JSON.parse(readFileSync(mine, 'utf8')) as T;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  } finally {
    rmSync(mine, { force: true });
  }
}
