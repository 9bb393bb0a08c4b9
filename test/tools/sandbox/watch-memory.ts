/** Runs a process that grows as another user in a sandbox, under the watch, and prints how it ended. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { limitSandboxMemory } from '../../../src/tools/sandbox/limits/memory-watch.ts';

const NOBODY = 65_534;
const grow = 'cat /dev/zero | timeout 30 tail -c 400000000 >/dev/null; echo ended with $?';
const [program, ...words] = [
  ...['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'],
  ...['bwrap', '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
  ...['--unshare-user', '--unshare-pid', '--cap-drop', 'ALL', 'sh', '-c', grow],
];
const child = spawn(program!, words, { stdio: ['ignore', 'inherit', 'inherit'] });
const first = () => {
  const [pid] = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').match(/\d+/) ?? [];
  return pid === undefined ? null : Number(pid);
};
child.once(
  'exit',
  limitSandboxMemory(() => (child.exitCode === null ? first() : null), 100 << 20),
);
