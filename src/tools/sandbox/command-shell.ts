import type { ChildProcess } from 'node:child_process';
import { closeSync, constants, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type Server, Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { valueOr } from '../../base/value-or.ts';
import { killProcessGroup, startProcess, waitForExit } from './child-process.ts';
import type { CommandCgroup } from './limits/cgroup.ts';
import { BWRAP_FDS } from './mounts/bwrap-arguments.ts';
import { SandboxError } from './sandbox.ts';

const ENV = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' };

const FIFOS = ['stdout', 'stderr', 'status'];
const MAX_STDERR = 2000;

interface RunningCommand {
  /** Real pipes, because programs that open `/dev/stdout` or `/dev/stderr` by path cannot open a socket. */
  readonly stdout: Socket;
  readonly stderr: Socket;
  readonly status: Socket;
  /** Resolves to bubblewrap's exit status, null if it was killed. Rejects if it cannot be started. */
  readonly ended: Promise<number | null>;
}

/** A shell that runs one command after another. It is in a control group, so each command is limited from its start. */
export class CommandShell {
  readonly folder: string;
  readonly process: ChildProcess;
  readonly #group: CommandCgroup | null;
  readonly #exited: Promise<unknown>;
  readonly #ready: Promise<void>;
  #received = '';
  #stderr = '';
  #failure: Error | null = null;
  #onLine: (line: string | null) => void = () => {};
  #isKilled = false;
  #runs = 0;

  /**
   * @param parent the folder in which the shell creates its own folder
   * @param hasChannel true if each command hands over a listening socket: see {@link listener}
   */
  constructor(command: (folder: string) => string[], parent: string, group: CommandCgroup | null, hasChannel: boolean) {
    this.folder = mkdtempSync(join(parent, 'run-'));
    this.#group = group;
    const streams = ['pipe', 'pipe', 'pipe'] as const;
    const channel = [...Array<'ignore'>(BWRAP_FDS.channel - streams.length).fill('ignore'), 'ipc'] as const;
    const stdio = [...streams, ...(hasChannel ? channel : [])];
    this.process = startProcess(command(this.folder), { cwd: '/', env: ENV, stdio });
    this.process.channel?.unref();
    const { pid, stdin, stdout, stderr } = this.process;
    const firstLine = this.#nextLine();
    this.#exited = waitForExit(this.process).catch((error: Error) => {
      this.#failure = new SandboxError(`cannot start ${this.process.spawnfile}: ${error.message}`, { cause: error });
    });
    stdin!.on('error', () => {});
    stdout!.on('data', (chunk: Buffer) => this.#receive(chunk.toString('latin1')));
    stderr!.on('data', (chunk: Buffer) => (this.#stderr = `${this.#stderr}${chunk}`.slice(-MAX_STDERR)));
    const limited = group && pid !== undefined ? group.join(pid) : Promise.resolve();
    this.#ready = Promise.all([firstLine, limited]).then(([line]) => {
      if (line !== 'ready')
        throw this.#failure ?? new SandboxError(`the sandbox could not be prepared: ${this.stderr}`);
    });
    this.#ready.catch(() => {});
    void this.#exited.then(() => this.#onLine(null));
  }

  /** Settles once the limits are in force and the shell can run a command. @throws SandboxError if that fails */
  async ready(): Promise<void> {
    try {
      await this.#ready;
    } catch (error) {
      if (error instanceof SandboxError) throw error;
      throw new SandboxError(`the sandbox cannot be limited: ${(error as Error).message}`, { cause: error });
    }
  }

  /**
   * Runs a command; the previous one must have ended.
   * @param layers for each overlay of the layout, the lowerdirs over its source in overlayfs syntax
   * @param covers files of the first overlay whose reads are reported
   */
  run(
    message: string,
    stdin: string | Uint8Array | undefined,
    layers: readonly string[],
    covers: readonly string[] = [],
  ): RunningCommand {
    this.#runs += 1;
    const path = stdin === undefined ? '/dev/null' : join(this.folder, 'stdin');
    const input = stdin === undefined ? null : writeFifo(path);
    writeFileSync(join(this.folder, 'args'), message, { mode: 0o600 });
    writeFileSync(join(this.folder, 'covers'), covers.map((path) => `${path}\0`).join(''), { mode: 0o600 });
    const [stdout, stderr, status] = FIFOS.map((name) => readFifo(join(this.folder, name)));
    const ended = this.#nextLine().then((line) => {
      if (line !== '0') for (const name of FIFOS) pokeFifo(join(this.folder, name));
      if (this.#failure) throw this.#failure;
      return line === null ? null : Number(line);
    });
    const closeInput = () => input?.destroy();
    ended.then(closeInput, closeInput);
    // bubblewrap's first report: the sandbox runs and has opened its input, so hopgate's end can be closed without
    // loss.
    status!.once('data', async (report: Buffer) => {
      if (!(await this.#endsWithHopgate(/"child-pid": (\d+)/.exec(`${report}`)?.[1] ?? ''))) return;
      this.#send('go');
      input?.end(stdin ?? '');
    });
    this.#send(path);
    for (const each of layers) this.#send(each);
    return { stdout: stdout!, stderr: stderr!, status: status!, ended };
  }

  /** The socket that the next command's launcher opens in its sandbox's network; null if the shell ends first. */
  listener(): Promise<Server | null> {
    return new Promise((resolve) => {
      this.process.once('message', (_, server) => {
        resolve(server as Server);
        this.process.send('received');
      });
      void this.#exited.then(() => resolve(null));
    });
  }

  /** The stderr of the shell itself; bubblewrap's is separate. */
  get stderr(): string {
    return this.#stderr.trim();
  }

  /** Frees the overlay of the previous command. */
  release(): void {
    this.#send('release');
  }

  /** Number of commands run so far. */
  get runs(): number {
    return this.#runs;
  }

  get isAlive(): boolean {
    const { pid, exitCode, signalCode } = this.process;
    return pid !== undefined && exitCode === null && signalCode === null && !this.#isKilled;
  }

  /** True if the pipes to the shell still exist. */
  get isReachable(): boolean {
    return FIFOS.every((name) => existsSync(join(this.folder, name)));
  }

  /** True if no process of the previous command is left in the group. */
  get isEmpty(): boolean {
    return this.#group?.holdsOnly(this.process.pid!) ?? true;
  }

  /** While true, hopgate's process does not exit before the shell (Node's ref and unref). */
  set keepsProcessAlive(keeps: boolean) {
    for (const each of [this.process, ...this.#streams]) keeps ? each.ref() : each.unref();
  }

  kill(): void {
    this.#isKilled = true;
    killProcessGroup(this.process);
  }

  /** Kills the shell and removes its files. */
  async end(): Promise<void> {
    this.kill();
    await this.#exited;
    for (const stream of this.#streams) stream.destroy();
    rmSync(this.folder, { recursive: true, force: true });
    await this.#group?.remove();
  }

  /** Kills the shell at the exit of the process, where nothing can be awaited. */
  endNow(): void {
    this.kill();
    this.#group?.removeNow();
  }

  /**
   * Waits until the first process of a sandbox has its system-call filter, because it sets its parent-death signal just
   * before. Returns false if the sandbox or the shell ended earlier.
   */
  async #endsWithHopgate(pid: string): Promise<boolean> {
    for (;;) {
      const filter = /^Seccomp:\s*(\d)/m.exec(valueOr(() => readFileSync(`/proc/${pid}/status`, 'latin1'), ''))?.[1];
      if (filter !== '0') return filter !== undefined && this.isAlive;
      await sleep(1);
    }
  }

  get #streams(): Socket[] {
    const { stdin, stdout, stderr } = this.process;
    return [stdin, stdout, stderr] as Socket[];
  }

  #send(line: string): void {
    this.process.stdin!.write(`${line}\n`);
  }

  #nextLine(): Promise<string | null> {
    return new Promise((resolve) => {
      this.#onLine = resolve;
    });
  }

  #receive(text: string): void {
    this.#received += text;
    const end = this.#received.indexOf('\n');
    if (end === -1) return;
    const line = this.#received.slice(0, end);
    this.#received = this.#received.slice(end + 1);
    this.#onLine(line);
  }
}

/** Opens the reading end of a pipe, which stays open when there is no writer. */
function readFifo(path: string): Socket {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return new Socket({ fd, readable: true, writable: false });
}

/** Opens a command's stdin: a pipe, so that no file has a password, and read-write, so that opening does not block. */
function writeFifo(path: string): Socket {
  const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  return new Socket({ fd, readable: false, writable: true }).on('error', () => {});
}

/** If no writer has opened the pipe, opens it for a moment to end the wait. */
function pokeFifo(path: string): void {
  try {
    closeSync(openSync(path, constants.O_WRONLY | constants.O_NONBLOCK));
  } catch {
    // No reader waits any more.
  }
}
