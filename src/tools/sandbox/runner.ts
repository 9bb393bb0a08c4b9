import type { ChildProcess } from 'node:child_process';
import { closeSync, constants, existsSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import type { ControlGroup } from './cgroup.ts';
import { exitOf, killGroup, start } from './child.ts';
import { SandboxError } from './sandbox.ts';

const ENV = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' };

const FIFOS = ['stdout', 'stderr', 'status'];
const COMPLAINT = 2000;

/** What bubblewrap says of one command, as it comes. */
export interface RunningCommand {
  /** Real pipes: what opens `/dev/stdout` or `/dev/stderr` by its path cannot open a socket. */
  readonly stdout: Socket;
  readonly stderr: Socket;
  readonly status: Socket;
  /** Settles when bubblewrap is gone: its exit status, or null if it was killed. Rejects if nothing could be started. */
  readonly ended: Promise<number | null>;
}

/**
 * A shell of ours, in a control group of its own, that runs commands one after the other: what it starts is in the group from its first moment, and
 * moving a process into one takes longer than a short command.
 */
export class Runner {
  readonly folder: string;
  readonly process: ChildProcess;
  readonly #group: ControlGroup | null;
  readonly #exited: Promise<unknown>;
  readonly #ready: Promise<void>;
  #said = '';
  #complaint = '';
  #failure: Error | null = null;
  #answer: (line: string | null) => void = () => {};
  #isKilled = false;
  /** How many commands it has run. */
  runs = 0;

  /** @param parent where it may have a folder of its own */
  constructor(command: (folder: string) => string[], parent: string, group: ControlGroup | null) {
    this.folder = mkdtempSync(join(parent, 'run-'));
    this.#group = group;
    this.process = start(command(this.folder), { cwd: '/', env: ENV, stdio: ['pipe', 'pipe', 'pipe'] });
    const { pid, stdin, stdout, stderr } = this.process;
    const isReady = this.#nextLine();
    this.#exited = exitOf(this.process).catch((error: Error) => {
      this.#failure = new SandboxError(`cannot start ${this.process.spawnfile}: ${error.message}`, { cause: error });
    });
    stdin!.on('error', () => {});
    stdout!.on('data', (chunk: Buffer) => this.#hear(chunk.toString('latin1')));
    stderr!.on('data', (chunk: Buffer) => (this.#complaint = `${this.#complaint}${chunk}`.slice(-COMPLAINT)));
    const isLimited = group && pid !== undefined ? group.join(pid) : Promise.resolve();
    this.#ready = Promise.all([isReady, isLimited]).then(([line]) => {
      if (line !== 'ready')
        throw this.#failure ?? new SandboxError(`the sandbox could not be prepared: ${this.complaint}`);
    });
    this.#ready.catch(() => {});
    void this.#exited.then(() => this.#answer(null));
  }

  /**
   * Settles once its limits are in force and it can run a command.
   *
   * @throws SandboxError if it never can
   */
  async ready(): Promise<void> {
    try {
      await this.#ready;
    } catch (error) {
      if (error instanceof SandboxError) throw error;
      throw new SandboxError(`the sandbox cannot be limited: ${(error as Error).message}`, { cause: error });
    }
  }

  /**
   * Runs a command, when the one before has ended.
   * @param layers in a layout with an overlay: what lies over the root, as overlayfs writes it
   */
  run(message: string, stdin: string | Uint8Array | undefined, layers: string | null): RunningCommand {
    this.runs += 1;
    const path = stdin === undefined ? '/dev/null' : join(this.folder, 'stdin');
    const input = stdin === undefined ? null : writeFifo(path);
    writeFileSync(join(this.folder, 'args'), message, { mode: 0o600 });
    const [stdout, stderr, status] = FIFOS.map((name) => readFifo(join(this.folder, name)));
    const ended = this.#nextLine().then((line) => {
      if (line !== '0') for (const name of FIFOS) pokeFifo(join(this.folder, name));
      if (this.#failure) throw this.#failure;
      return line === null ? null : Number(line);
    });
    const done = () => input?.destroy();
    ended.then(done, done);
    // Its first word is that the sandbox's first process is there: whoever reads the input has it open, and what we close is not lost.
    status!.once('data', () => {
      this.#tell('go');
      input?.end(stdin ?? '');
    });
    this.#tell(path);
    if (layers !== null) this.#tell(layers);
    return { stdout: stdout!, stderr: stderr!, status: status!, ended };
  }

  /** What it said itself, beside what bubblewrap said. */
  get complaint(): string {
    return this.#complaint.trim();
  }

  /** Lets go of what the command before left, in a layout with an overlay. */
  release(): void {
    this.#tell('release');
  }

  get isAlive(): boolean {
    const { pid, exitCode, signalCode } = this.process;
    return pid !== undefined && exitCode === null && signalCode === null && !this.#isKilled;
  }

  /** Its pipes are still there. */
  get isReachable(): boolean {
    return FIFOS.every((name) => existsSync(join(this.folder, name)));
  }

  /** True if everything of the command before is gone from its group. */
  get isEmpty(): boolean {
    return this.#group?.holdsOnly(this.process.pid!) ?? true;
  }

  /** Keep the process that we are alive, or not. */
  set keepsUsAlive(keeps: boolean) {
    for (const each of [this.process, ...this.#streams]) keeps ? each.ref() : each.unref();
  }

  /** Kills it and what it runs. */
  kill(): void {
    this.#isKilled = true;
    killGroup(this.process);
  }

  /** Kills it and leaves nothing of it. */
  async end(): Promise<void> {
    this.kill();
    await this.#exited;
    for (const stream of this.#streams) stream.destroy();
    rmSync(this.folder, { recursive: true, force: true });
    await this.#group?.remove();
  }

  /** The same where nothing can be waited for. */
  endNow(): void {
    this.kill();
    this.#group?.removeNow();
  }

  get #streams(): Socket[] {
    const { stdin, stdout, stderr } = this.process;
    return [stdin, stdout, stderr] as unknown as Socket[];
  }

  #tell(line: string): void {
    this.process.stdin!.write(`${line}\n`);
  }

  #nextLine(): Promise<string | null> {
    return new Promise((resolve) => {
      this.#answer = resolve;
    });
  }

  #hear(text: string): void {
    this.#said += text;
    const end = this.#said.indexOf('\n');
    if (end === -1) return;
    const line = this.#said.slice(0, end);
    this.#said = this.#said.slice(end + 1);
    this.#answer(line);
  }
}

/** Our end; as long as nobody has opened the other it has not ended. */
function readFifo(path: string): Socket {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return new Socket({ fd, readable: true, writable: false });
}

/** Our end of what a command reads: a pipe, because what passes through it (a password) lies in no file. Open for both, so that nobody waits. */
function writeFifo(path: string): Socket {
  const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  return new Socket({ fd, readable: false, writable: true }).on('error', () => {});
}

/** Ends the wait for a writer that never came. */
function pokeFifo(path: string): void {
  try {
    closeSync(openSync(path, constants.O_WRONLY | constants.O_NONBLOCK));
  } catch {
    // nobody waits any more
  }
}
