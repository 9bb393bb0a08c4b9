import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { once } from 'node:events';
import type { Socket } from 'node:net';

const SETPRIV = '/usr/bin/setpriv';
/** How long a program may take to leave by itself, and once more after SIGTERM. */
const GRACE_MS = 500;

/** A program in a process group of its own, which dies with it and with us. */
export class ProcessGroup {
  readonly child: ChildProcess;
  /** Settles when the program is gone; rejects where it could not be started. */
  readonly exited: Promise<{ readonly code: number | null; readonly signal: string | null }>;

  constructor(command: readonly string[], options: { readonly cwd: string; readonly env: Record<string, string> }) {
    const [program, ...args] = dyingWithUs() ? [SETPRIV, '--pdeathsig', 'KILL', '--', ...command] : command;
    this.child = spawn(program!, args, { ...options, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
    this.exited = new Promise((resolve, reject) => {
      this.child.once('error', reject);
      this.child.once('exit', (code, signal) => resolve({ code, signal }));
    });
    this.exited.catch(() => {});
    // While nobody waits for it, it keeps no program from ending.
    this.child.unref();
    for (const stream of this.child.stdio) {
      stream?.on('error', () => {});
      (stream as Socket | null)?.unref?.();
    }
    const { pid } = this.child;
    if (pid === undefined) return;
    living.add(pid);
    sweepAtExit();
    this.child.once('exit', () => {
      this.kill('SIGKILL');
      living.delete(pid);
    });
  }

  /** Ends its input, then asks it to go, then makes it go. */
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
    if (this.child.pid !== undefined) signalGroup(this.child.pid, signal);
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
let sweeping = false;

function sweepAtExit(): void {
  if (sweeping) return;
  sweeping = true;
  process.once('exit', () => {
    for (const pid of living) signalGroup(pid, 'SIGKILL');
  });
}

function signalGroup(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // already gone
  }
}

let canDie: boolean | null = null;

/** Whether the kernel can be asked to kill a program when we are killed ourselves. */
function dyingWithUs(): boolean {
  canDie ??=
    process.platform === 'linux' &&
    existsSync(SETPRIV) &&
    spawnSync(SETPRIV, ['--pdeathsig', 'KILL', '--', 'true'], { stdio: 'ignore' }).status === 0;
  return canDie;
}
