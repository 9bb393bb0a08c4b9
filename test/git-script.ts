import { execFileSync } from 'node:child_process';

/** A script for {@link gitScript}: makes a repository of the files in its folder, and the bare remote `$1`, which has it. */
export const INIT_WITH_REMOTE = `
git init -q --bare -b main "$1"
git init -q -b main
git add .
git commit -q -m first
git remote add origin "$1"
git push -q origin main
git fetch -q origin
`;

/**
 * Runs a shell script with commands of git, as the person `name`. A worker is a large process and takes up to 100 ms to
 * start a program; a shell takes one.
 * @param args the words `$1` and so on of the script
 */
export function gitScript(cwd: string, name: string, script: string, ...args: readonly string[]): void {
  const email = `${name.toLowerCase()}@example.com`;
  execFileSync('sh', ['-euc', script, 'sh', ...args], {
    cwd,
    env: {
      PATH: process.env['PATH'],
      HOME: '/nonexistent',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_AUTHOR_NAME: name,
      GIT_AUTHOR_EMAIL: email,
      GIT_COMMITTER_NAME: name,
      GIT_COMMITTER_EMAIL: email,
    },
    stdio: 'pipe',
  });
}
