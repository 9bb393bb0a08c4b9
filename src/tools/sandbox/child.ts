import { type ChildProcess, spawn } from 'node:child_process';
import { openSync, readdirSync, readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { BoundedOutput } from './bounded-output.ts';
import type { OutputPipes } from './output-pipe.ts';

/** Why we killed a command. */
export type KillReason = 'timed-out' | 'aborted' | 'flooded';

export interface ChildOptions {
  readonly seconds: number;
  readonly outputBytes: number;
  readonly signal: AbortSignal;
}

/** A command that keeps writing past this is killed; up to it, it runs on and only its head and tail are kept. */
const floodBytes = (outputBytes: number) => Math.max(256 << 20, 16 * outputBytes);

/** A child process in its own process group whose output is bounded and that is killed on timeout, abort or flood. */
export class BoundedChild {
  readonly process: ChildProcess;
  readonly stdout: BoundedOutput;
  readonly stderr: BoundedOutput;
  /** Settles when both output streams have ended. */
  readonly outputEnded: Promise<void>;
  /** Settles when the process is gone; rejects if it could not be started. */
  readonly exited: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  killed: KillReason | null = null;
  readonly #started = performance.now();
  readonly #options: ChildOptions;
  readonly #timer: NodeJS.Timeout;
  readonly #onAbort = () => this.kill('aborted');

  constructor(
    command: readonly string[],
    options: ChildOptions,
    spawning: {
      readonly cwd: string;
      readonly env: Readonly<Record<string, string>>;
      readonly stdin: string | Uint8Array | undefined;
      readonly fds: readonly ('pipe' | 'ignore' | number)[];
      /** For its output; sockets, where there are none. */
      readonly pipes?: OutputPipes;
    },
  ) {
    this.#options = options;
    this.stdout = new BoundedOutput(options.outputBytes);
    this.stderr = new BoundedOutput(options.outputBytes);
    const [out, err] = [spawning.pipes?.() ?? null, spawning.pipes?.() ?? null];
    const stdin = spawning.stdin === undefined ? 'ignore' : 'pipe';
    try {
      this.process = spawn(command[0]!, command.slice(1), {
        cwd: spawning.cwd,
        env: spawning.env,
        detached: true,
        stdio: withoutLeaks([stdin, out?.writer ?? 'pipe', err?.writer ?? 'pipe', ...spawning.fds]),
      });
    } finally {
      out?.handedOver();
      err?.handedOver();
    }
    this.exited = new Promise((resolve, reject) => {
      this.process.once('error', reject);
      this.process.once('exit', (code, signal) => resolve({ code, signal }));
    });
    this.exited.catch(() => {});
    for (const stream of [...this.process.stdio, out?.reader, err?.reader]) stream?.on('error', () => {});
    this.process.stdin?.end(spawning.stdin);
    this.outputEnded = Promise.all([
      this.#collect(out?.reader ?? this.process.stdout!, this.stdout),
      this.#collect(err?.reader ?? this.process.stderr!, this.stderr),
    ]).then(() => {});
    this.#timer = setTimeout(() => this.kill('timed-out'), options.seconds * 1000);
    options.signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** Kills the process group; the first reason counts. */
  kill(reason: KillReason): void {
    this.killed ??= reason;
    this.sweep();
  }

  /** Kills whatever is left of the process group. */
  sweep(): void {
    if (this.process.pid === undefined) return;
    try {
      process.kill(-this.process.pid, 'SIGKILL');
    } catch {
      // already gone
    }
  }

  /** Stops watching the clock and the caller's signal: from here on nothing kills it. */
  settle(): void {
    clearTimeout(this.#timer);
    this.#options.signal.removeEventListener('abort', this.#onAbort);
  }

  get seconds(): number {
    return Math.round(performance.now() - this.#started) / 1000;
  }

  #collect(stream: Readable, into: BoundedOutput): Promise<void> {
    const flood = floodBytes(this.#options.outputBytes);
    stream.on('data', (chunk: Buffer) => {
      if (into.total <= flood) into.push(chunk);
      if (into.total > flood) this.kill('flooded');
    });
    return new Promise((resolve) => stream.once('close', () => resolve()));
  }
}

/** Descriptors that our own parent left open in us without close-on-exec would be inherited by the command: puts /dev/null in their place. */
function withoutLeaks(stdio: ('pipe' | 'ignore' | number)[]): ('pipe' | 'ignore' | number)[] {
  inherited ??= findInherited();
  const leaking = inherited.fds.filter((fd) => fd >= stdio.length || stdio[fd] === 'ignore');
  const all = Array.from(
    { length: Math.max(stdio.length, ...leaking.map((fd) => fd + 1)) },
    (_, fd) => stdio[fd] ?? 'ignore',
  );
  for (const fd of leaking) all[fd] = inherited.devNull;
  return all;
}

let inherited: { readonly fds: readonly number[]; readonly devNull: number } | null = null;
function findInherited() {
  const fds = readdirSync('/proc/self/fd')
    .map(Number)
    .filter((fd) => fd > 2 && isInheritable(fd));
  return { fds, devNull: openSync('/dev/null', 'r') };
}

function isInheritable(fd: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & 0o2000000) === 0;
  } catch {
    return false;
  }
}
