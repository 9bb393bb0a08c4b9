import { rmdirSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolders, writeNamedFile } from '../../base/files.ts';
import { readRegularFile } from '../../base/read-file.ts';
import { MAX_SETTINGS_BYTES } from '../../spec/policy/limits.ts';
import { CliError } from '../io.ts';
import type { FileChange } from './installer.ts';

/** Reads the text of a file; null if it does not exist. @throws CliError `not-a-file` */
export function readTextOrNull(path: string): string | null {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return null;
  const remedy = 'Move it away, then run this again. Nothing was changed.';
  if (!stat.isFile()) throw new CliError('not-a-file', `${path} is not a file`, remedy);
  if (stat.size > MAX_SETTINGS_BYTES)
    throw new CliError('too-large', `${path} is larger than ${MAX_SETTINGS_BYTES} bytes`, remedy);
  return readRegularFile(path, MAX_SETTINGS_BYTES).toString('utf8');
}

export const makeFileChange = (path: string, after: string | null): FileChange => ({
  path,
  before: readTextOrNull(path),
  after,
});

/** A change of a file that contains only hopgate's text. */
export const makeOwnFileChange = (path: string, after: string | null): FileChange => ({
  ...makeFileChange(path, after),
  isOwnFile: true,
});

export const withoutEqualChanges = (changes: readonly FileChange[]): readonly FileChange[] =>
  changes.filter(({ before, after }) => before !== after);

/**
 * Writes the planned changes; each file is replaced as a whole. If a file has changed since it was read, nothing is
 * written. If a file cannot be written, all files are restored.
 * @param keep a folder to keep, even if it becomes empty
 * @throws CliError `changed-meanwhile`, `unwritable`
 */
export function applyInstall(changes: readonly FileChange[], keep: string): void {
  const todo = withoutEqualChanges(changes);
  for (const { path, before } of todo)
    if (readTextOrNull(path) !== before)
      throw new CliError('changed-meanwhile', `${path} was changed meanwhile`, 'Run this again. Nothing was changed.');
  for (const [index, change] of todo.entries()) {
    try {
      write(change.path, change.after, keep);
    } catch (cause) {
      for (const { path, before } of todo.slice(0, index).reverse()) write(path, before, keep);
      const { code } = cause as NodeJS.ErrnoException;
      throw new CliError(
        'unwritable',
        `${change.path} cannot be written (${code ?? (cause as Error).message})`,
        'Make it writable, then run this again. Nothing was changed.',
        { cause },
      );
    }
  }
}

function write(path: string, text: string | null, keep: string): void {
  if (text === null) return removeFile(path, keep);
  makeFolders(dirname(path));
  // A settings file may be a link to the user's file elsewhere; then that file is written.
  writeNamedFile(path, text, 0o600);
}

/** Removes the file, and then the empty folders above it, up to the one to keep. */
function removeFile(path: string, keep: string): void {
  rmSync(path, { force: true });
  for (let folder = dirname(path); folder !== keep && folder !== dirname(folder); folder = dirname(folder)) {
    try {
      rmdirSync(folder);
    } catch {
      return;
    }
  }
}
