import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { findProgram } from '../../base/process.ts';
import { packageFolder } from '../../daemon/package-files.ts';
import { CliError, type Io } from '../io.ts';

const PACKAGES = { claude: '@anthropic-ai/claude-code', codex: '@openai/codex' } as const;

/**
 * The client program to start: the one that the option, CLAUDE_BIN or CODEX_BIN names, or else the program on the PATH.
 */
export function findClientProgram(io: Io, name: 'claude' | 'codex', named: string | null): string {
  const found = named ?? io.env[`${name.toUpperCase()}_BIN`] ?? findProgram(name, io.env['PATH']);
  if (found && (!found.includes('/') || existsSync(resolve(io.cwd, found)))) return found;
  throw new CliError(
    `no-${name}`,
    found ? `there is no ${found}` : `the PATH has no ${name}`,
    `Install it (npm install -g ${PACKAGES[name]}), or name it: hopgate ${name} --${name} PROGRAM.`,
  );
}

/** hopgate's own command line, as a program and its first arguments. */
export function hopgateCommandLine(): readonly [program: string, ...args: string[]] {
  const fromSource = import.meta.filename.endsWith('.ts');
  return [process.execPath, join(packageFolder(), ...(fromSource ? ['src', 'cli', 'main.ts'] : ['dist', 'cli.js']))];
}
