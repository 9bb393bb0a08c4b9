import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import type { Socket } from 'node:net';
import { memoise } from '../../base/lazy.ts';
import { assertStarted, sendSignal } from '../../base/process.ts';

const SETPRIV = '/usr/bin/setpriv';
/** How long a program may run after stdin is closed, and again after SIGTERM. */
const GRACE_MS = 500;

/** A program in its own process group. The group is killed when the program or hopgate ends. */
export class ServerProcessGroup {
  readonly child: ChildProcess;
  /** Resolves when the program has ended; rejects if it could not be started. */
  readonly exited: Promise<{ readonly code: number | null; readonly signal: string | null }>;

  constructor(command: readonly string[], options: { readonly cwd: string; readonly env: Record<string, string> }) {
    const [program, ...args] = hasParentDeathSignal() ? [SETPRIV, '--pdeathsig', 'KILL', '--', ...command] : command;
    this.child = assertStarted(spawn(program!, args, { ...options, detached: true, stdio: ['pipe', 'pipe', 'pipe'] }));
    this.exited = new Promise((resolve, reject) => {
      this.child.once('error', reject);
      this.child.once('exit', (code, signal) => resolve({ code, signal }));
    });
    this.exited.catch(() => {});
    // An idle program must not keep this process alive.
    this.child.unref();
    for (const stream of this.child.stdio) {
      stream?.on('error', () => {});
      (stream as Socket | null)?.unref?.();
    }
    const { pid } = this.child;
    if (pid === undefined) return;
    living.add(pid);
    killAllAtExit();
    this.child.once('exit', () => {
      this.kill('SIGKILL');
      living.delete(pid);
    });
  }

  /** Closes stdin, then sends SIGTERM, then SIGKILL. */
  async end(): Promise<void> {
    this.child.ref();
    this.child.stdin?.end();
    if (!(await this.#isGoneSoon())) {
      this.kill('SIGTERM');
      if (!(await this.#isGoneSoon())) this.kill('SIGKILL');
    }
    await this.exited.catch(() => {});
  }

  kill(signal: 'SIGTERM' | 'SIGKILL'): void {
    if (this.child.pid !== undefined) sendSignal(-this.child.pid, signal);
  }

  async #isGoneSoon(): Promise<boolean> {
    if (this.child.pid === undefined || this.child.exitCode !== null || this.child.signalCode !== null) return true;
    const enough = AbortSignal.timeout(GRACE_MS);
    return once(this.child, 'exit', { signal: enough }).then(
      () => true,
      () => false,
    );
  }
}

const living = new Set<number>();

const killAllAtExit = memoise(() =>
  process.once('exit', () => {
    for (const pid of living) sendSignal(-pid, 'SIGKILL');
  }),
);

/** True if a parent-death signal can be set (Linux with setpriv). */
const hasParentDeathSignal = memoise(
  () =>
    process.platform === 'linux' &&
    existsSync(SETPRIV) &&
    spawnSync(SETPRIV, ['--pdeathsig', 'KILL', '--', 'true'], { stdio: 'ignore' }).status === 0,
);
