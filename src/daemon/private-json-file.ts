import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { writeAtomically } from '../base/files.ts';
import { valueOr } from '../base/value-or.ts';

/** Writes JSON to a file atomically. Only this user can read it. */
export function writePrivateJson(file: string, value: unknown): void {
  writeAtomically(file, JSON.stringify(value));
}

/** Writes JSON to a new file, not atomically: readers come later, and must take a truncated file for missing. */
export function writeNewPrivateJson(file: string, value: unknown): void {
  writeFileSync(file, JSON.stringify(value), { mode: 0o600 });
}

/** The JSON of a file; null if the file does not exist. */
export const readPrivateJson = <T>(file: string): T | null =>
  valueOr(() => JSON.parse(readFileSync(file, 'utf8')) as T, null, ['ENOENT']);

/** Reads and removes a file. Of several callers, one gets the value; null if the file is missing or truncated. */
export function takePrivateJson<T>(file: string): T | null {
  const mine = `${file}.${process.pid}-${randomBytes(6).toString('hex')}`;
  if (valueOr(() => renameSync(file, mine), null, ['ENOENT']) === null) return null;
  try {
    return JSON.parse(readFileSync(mine, 'utf8')) as T;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  } finally {
    rmSync(mine, { force: true });
  }
}
