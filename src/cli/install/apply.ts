import { lstatSync, mkdirSync, readFileSync, renameSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { CliError } from '../io.ts';
import type { FileChange } from './installer.ts';

/** The text of a file; null: it is not there. @throws CliError `not-a-file` */
export function textOf(path: string): string | null {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return null;
  if (!stat.isFile())
    throw new CliError(
      'not-a-file',
      `${path} is not a file`,
      'Move it away, then run this again. Nothing was changed.',
    );
  return readFileSync(path, 'utf8');
}

export const changesOf = (changes: readonly FileChange[]): readonly FileChange[] =>
  changes.filter(({ before, after }) => before !== after);

/**
 * Writes what was shown: each file whole, in the place of the other. What changed since it was read is left alone.
 *
 * @throws CliError `changed-meanwhile`
 */
export function applyChanges(changes: readonly FileChange[]): void {
  const todo = changesOf(changes);
  for (const { path, before } of todo)
    if (textOf(path) !== before)
      throw new CliError('changed-meanwhile', `${path} was changed meanwhile`, 'Run this again. Nothing was changed.');
  for (const { path, after } of todo) {
    if (after === null) remove(path);
    else put(path, after);
  }
}

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  // A settings file may be a link to where somebody keeps it; what it leads to is written then.
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  if (isLink) return writeFileSync(path, text);
  const mode = statSync(path, { throwIfNoEntry: false })?.mode;
  const made = `${path}.${process.pid}`;
  writeFileSync(made, text, { mode: mode === undefined ? 0o600 : mode & 0o777 });
  renameSync(made, path);
}

/** The file, and the folders that are empty without it. */
function remove(path: string): void {
  rmSync(path, { force: true });
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
    try {
      rmdirSync(folder);
    } catch {
      return;
    }
  }
}
