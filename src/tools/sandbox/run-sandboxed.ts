import type { Server, Socket } from 'node:net';
import { availableParallelism } from 'node:os';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { processStartTime } from '../../base/process-holder.ts';
import { BoundedRun } from './bounded-run.ts';
import { commandMessage, type HostUser, type SandboxHostFacts } from './command-message.ts';
import type { CommandShell } from './command-shell.ts';
import type { CommandShells } from './command-shell-pool.ts';
import { limitSandboxMemory } from './limits/memory-watch.ts';
import { overlaysOfLayout, SECOND_OVERLAY_FOLDER } from './mounts/bwrap-arguments.ts';
import type { SandboxLayout } from './mounts/layout.ts';
import { countNetworkTries, type NetworkTryCounter } from './network-tries.ts';
import { asSandboxError, type CommandOptions, type CommandResult, SandboxError } from './sandbox.ts';

/** Runs one command under bubblewrap. See {@link Sandbox.run}. */
export async function runSandboxed(
  host: SandboxHostFacts,
  shells: CommandShells,
  runAs: HostUser | null,
  layout: SandboxLayout,
  argv: readonly string[],
  options: CommandOptions,
): Promise<CommandResult> {
  const message = asSandboxError(() =>
    commandMessage(host, layout, argv, {
      env: options.env ?? {},
      // The limit on CPU time ends a command that uses every core after hopgate is gone or blocked.
      cpuSeconds: Math.ceil(options.seconds + 10) * availableParallelism(),
    }),
  );
  return shells.use(layout, runAs, (shell) => supervise(host, shell, layout, message, options));
}

async function supervise(
  host: SandboxHostFacts,
  shell: CommandShell,
  layout: SandboxLayout,
  message: string,
  options: CommandOptions,
): Promise<CommandResult> {
  const overlays = overlaysOfLayout(layout);
  const layers = overlays.map(({ layer }) => (layer ? `${layer}:` : ''));
  const covers = overlays[0]?.covers ?? [];
  const proxy = layout.proxy ? acceptFor(shell, options) : null;
  const command = asSandboxError(() => shell.run(message, options.stdin, layers, covers));
  const boundedRun = new BoundedRun(command, options, () => shell.kill());
  const status = readStatus(command.status, !layout.network);
  const unwatch = host.limitsMemory ? () => {} : limitSandboxMemory(() => status.childPid, layout.limits.memoryBytes);
  try {
    // Each stream is read to its end, because the shell's next command writes into the same pipes.
    const [code] = await Promise.all([command.ended, boundedRun.outputEnded, status.ended]);
    boundedRun.settle();
    unwatch();
    if (status.childPid !== null) await waitUntilGone(status.childPid);
    if (overlays.length > 0 && options.inspect && boundedRun.killed === null && status.exit !== null) {
      const base = `/proc/${shell.process.pid}/root${host.supportFiles.overlayBase}`;
      const writes = (path: string) => ({ upper: `${path}/upper`, merged: `${path}/merged` });
      const other = overlays.length > 1 ? writes(`${base}/${SECOND_OVERLAY_FOLDER}`) : null;
      await options.inspect({ ...writes(base), outbox: `${base}/outbox`, other }, status.exit);
    }
    const report = boundedRun.report();
    if (boundedRun.killed === null && (status.exit === null || proxy?.isReady === false))
      throw new SandboxError(`the sandbox could not be set up (exit ${code}): ${report.stderr.trim() || shell.stderr}`);
    return {
      ...report,
      exit: boundedRun.killed ? null : status.exit,
      signal: boundedRun.killed ? 'SIGKILL' : null,
      networkTries: status.tries?.count() ?? 0,
    };
  } finally {
    unwatch();
    status.tries?.close();
    boundedRun.settle();
    proxy?.close();
  }
}

/** Accepts the connections of a command to its proxy, until the command has ended. */
function acceptFor(
  shell: CommandShell,
  { onConnection }: CommandOptions,
): { readonly isReady: boolean; close(): void } {
  const sockets = new Set<Socket>();
  let [server, isReady, isClosed]: [Server | null, boolean, boolean] = [null, false, false];
  const close = () => {
    isClosed = true;
    server?.close();
    for (const socket of sockets) socket.destroy();
  };
  void shell.listener().then((listener) => {
    if (listener === null) return;
    [server, isReady] = [listener, true];
    listener.on('connection', (socket) => {
      sockets.add(socket.on('error', () => {}).once('close', () => sockets.delete(socket)));
      onConnection?.(socket);
    });
    if (isClosed) close();
  });
  return {
    get isReady() {
      return isReady;
    },
    close,
  };
}

/** Bubblewrap's report: the sandbox's first process, and the command's exit code (null until it ends). */
interface Status {
  childPid: number | null;
  exit: number | null;
  /**
   * Counts the tries to reach a missing network; null if the sandbox has a network, and until its first process starts.
   */
  tries: NetworkTryCounter | null;
  /** Settles when nothing more can be reported. */
  readonly ended: Promise<void>;
}

function readStatus(stream: Readable, isOwnNetwork: boolean): Status {
  let text = '';
  const read = (pattern: RegExp) => {
    const found = pattern.exec(text)?.[1];
    return found === undefined ? null : Number(found);
  };
  const status: Status = {
    childPid: null,
    exit: null,
    tries: null,
    ended: new Promise((resolve) => stream.once('close', () => resolve())),
  };
  stream.on('error', () => {});
  stream.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
    status.childPid = read(/"child-pid": (\d+)/);
    if (isOwnNetwork && status.childPid !== null) status.tries ??= countNetworkTries(status.childPid);
    status.exit = read(/"exit-code": (\d+)/);
  });
  return status;
}

/** Waits for the first process of a pid namespace, which exits or is a zombie only after all others. */
async function waitUntilGone(pid: number): Promise<void> {
  for (let attempt = 0; processStartTime(pid) !== null; attempt += 1) {
    if (attempt > 2000) throw new SandboxError(`process ${pid} of the sandbox does not exit`);
    await sleep(attempt < 20 ? 1 : 5);
  }
}
