import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Runs a program for at most 10 s and returns its output; null if the program is missing or fails. */
export type RunProgram = (
  program: string,
  args: readonly string[],
  options?: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv },
) => Promise<string | null>;

export const runProgram: RunProgram = (program, args, options = {}) =>
  promisify(execFile)(program, args, { ...options, encoding: 'utf8', timeout: 10_000, maxBuffer: 64 << 20 }).then(
    ({ stdout }) => stdout,
    () => null,
  );

/** Asks git about a repository that may run nothing: no hooks, fsmonitor, pager, prompts or global configuration. */
export function askGit(root: string, args: readonly string[], path: string | undefined): Promise<string | null> {
  const env = {
    PATH: path ?? '',
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_PAGER: 'cat',
  };
  const safe = ['core.fsmonitor=false', 'core.hooksPath=/dev/null', 'protocol.allow=never', `safe.directory=${root}`];
  return runProgram('git', ['-C', root, ...safe.flatMap((setting) => ['-c', setting]), ...args], { env });
}
