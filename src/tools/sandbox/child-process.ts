import { type ChildProcess, spawn } from 'node:child_process';
import { openSync, readdirSync, readFileSync } from 'node:fs';
import { memoise } from '../../base/lazy.ts';
import { assertStarted, sendSignal } from '../../base/process.ts';
import { valueOr } from '../../base/value-or.ts';

/** Starts a process in its own process group; it inherits only the given descriptors. */
export function startProcess(
  command: readonly string[],
  spawning: {
    readonly cwd: string;
    readonly env: Readonly<Record<string, string>>;
    readonly stdio: readonly ('pipe' | 'ignore' | 'ipc')[];
  },
): ChildProcess {
  const { cwd, env, stdio } = spawning;
  return assertStarted(
    spawn(command[0]!, command.slice(1), { cwd, env, detached: true, stdio: withoutLeaks([...stdio]) }),
  );
}

/** Resolves when the process has exited; rejects if it could not be started. */
export function waitForExit(
  child: ChildProcess,
): Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
}

export function killProcessGroup({ pid }: ChildProcess): void {
  if (pid !== undefined) sendSignal(-pid, 'SIGKILL');
}

type Stdio = 'pipe' | 'ignore' | 'ipc' | number;

/** Replaces descriptors that hopgate's parent left open by /dev/null, because the command would inherit them. */
function withoutLeaks(stdio: Stdio[]): Stdio[] {
  const { fds, devNull } = inherited();
  const leaking = fds.filter((fd) => fd >= stdio.length || stdio[fd] === 'ignore');
  const all = Array.from(
    { length: Math.max(stdio.length, ...leaking.map((fd) => fd + 1)) },
    (_, fd) => stdio[fd] ?? 'ignore',
  );
  for (const fd of leaking) all[fd] = devNull;
  return all;
}

/** The descriptors that hopgate inherited and that its children would inherit, and an open /dev/null. */
const inherited = memoise(() => {
  const fds = readdirSync('/proc/self/fd')
    .map(Number)
    .filter((fd) => fd > 2 && isInheritable(fd));
  return { fds, devNull: openSync('/dev/null', 'r') };
});

function isInheritable(fd: number): boolean {
  // /proc states a size of 0, so `readTextOrEmpty` would read nothing.
  const info = valueOr(() => readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'), '');
  const flags = /^flags:\s*([0-7]+)/m.exec(info)?.[1];
  return flags !== undefined && (Number.parseInt(flags, 8) & 0o2000000) === 0;
}
