import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { findProgram } from '../../base/process.ts';
import { packageFolder } from '../../daemon/own-files.ts';
import { CliError, type Io } from '../io.ts';

/** The Codex to start: the one that `--codex` or CODEX_BIN names, or else the one on the PATH. */
export function codexProgram(io: Io, named: string | null): string {
  const found = named ?? io.env['CODEX_BIN'] ?? findProgram('codex', io.env['PATH']);
  if (found && (!found.includes('/') || existsSync(resolve(io.cwd, found)))) return found;
  throw new CliError(
    'no-codex',
    found ? `there is no ${found}` : 'the PATH has no codex',
    'Install it (npm install -g @openai/codex), or name it: hopgate codex --codex PROGRAM.',
  );
}

/** hopgate's own command line, as a program and its first arguments. */
export function ownProgram(): readonly [program: string, ...args: string[]] {
  const fromSource = import.meta.filename.endsWith('.ts');
  return [process.execPath, join(packageFolder(), ...(fromSource ? ['src', 'cli', 'main.ts'] : ['dist', 'cli.js']))];
}
