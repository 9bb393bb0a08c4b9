import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { FD } from './bwrap-arguments.ts';
import type { Cgroups, ControlGroup } from './cgroup.ts';
import { BoundedChild } from './child.ts';
import type { Layout } from './layout.ts';
import { type Host, type HostIdentity, launchCommand, overlayOf } from './launch.ts';
import { type CommandResult, type RunOptions, SandboxError } from './sandbox.ts';
import { type FilterArch, seccompFilter } from './seccomp.ts';

/** Runs one command under bubblewrap. See {@link Sandbox.run}. */
export async function runSandboxed(
  host: Host,
  cgroups: Cgroups | null,
  runAs: HostIdentity | null,
  layout: Layout,
  argv: readonly string[],
  options: RunOptions,
): Promise<CommandResult> {
  const group = cgroups?.create(layout.limits) ?? null;
  cgroups?.announce();
  try {
    const command = launchCommand(host, layout, argv, {
      env: options.env ?? {},
      block: group !== null,
      runAs,
      // Wall time is what ends a command; this only ends one that burns every core after we are gone or stuck.
      cpuSeconds: Math.ceil(options.seconds + 10) * availableParallelism(),
    });
    return await supervise(host, layout, command, group, options);
  } finally {
    await group?.remove();
  }
}

async function supervise(
  host: Host,
  layout: Layout,
  command: readonly string[],
  group: ControlGroup | null,
  options: RunOptions,
): Promise<CommandResult> {
  const overlay = overlayOf(layout);
  const child = new BoundedChild(command, options, {
    cwd: '/',
    env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' },
    stdin: options.stdin,
    pipes: host.furniture.pipes,
    fds: ['pipe', 'pipe', overlay ? 'pipe' : 'ignore', group ? 'pipe' : 'ignore', ...(options.keepFds ?? [])],
  });
  const stdio = child.process.stdio as unknown as Duplex[];
  stdio[FD.seccomp]?.end(seccompFilter({ arch: process.arch as FilterArch, unixSockets: layout.unixSockets }));
  const status = readStatus(stdio[FD.status]);
  const joined = group ? joinGroup(group, status, stdio[FD.block]!, () => child.sweep()) : null;
  joined?.catch(() => {});
  try {
    if (options.signal.aborted) child.kill('aborted');
    await Promise.race([child.exited, status.ended]);
    await child.outputEnded;
    child.settle();
    await joined;
    if (status.childPid !== null) await processGone(status.childPid);
    if (overlay && options.inspect && child.killed === null && status.exit !== null) {
      const base = `/proc/${child.process.pid}/root${host.furniture.overlayBase}`;
      await options.inspect({ upper: `${base}/upper`, merged: `${base}/merged` });
    }
  } finally {
    child.settle();
    stdio[FD.hold]?.end();
  }
  const { code, signal } = await child.exited.catch((error: Error) => {
    throw new SandboxError(`cannot start ${command[0]}: ${error.message}`, { cause: error });
  });
  const stderr = child.stderr.kept();
  if (child.killed === null && status.exit === null)
    throw new SandboxError(`the sandbox could not be set up (${signal ?? `exit ${code}`}): ${stderr.text.trim()}`);
  const stdout = child.stdout.kept();
  return {
    exit: child.killed ? null : status.exit,
    signal: child.killed ? 'SIGKILL' : null,
    stdout: stdout.text,
    stderr: stderr.text,
    truncated: stdout.truncated || stderr.truncated,
    timedOut: child.killed === 'timed-out',
    aborted: child.killed === 'aborted',
    flooded: child.killed === 'flooded',
    seconds: child.seconds,
  };
}

/**
 * Puts the sandbox's first process into its groups while it sets itself up, then lets it go on. If that fails nothing of the command runs.
 *
 * @throws SandboxError if it could not be put there
 */
async function joinGroup(group: ControlGroup, status: Status, block: Duplex, kill: () => void): Promise<void> {
  const pid = await status.started;
  try {
    if (pid !== null) await group.join(pid);
    block.end('go');
  } catch (error) {
    kill();
    throw new SandboxError(`the sandbox cannot be limited: ${(error as Error).message}`, { cause: error });
  }
}

/** What bubblewrap reports: the sandbox's first process, and how the command ended (null while, or if, it did not). */
interface Status {
  childPid: number | null;
  exit: number | null;
  /** The first process, once it is there; null if there never will be one. */
  readonly started: Promise<number | null>;
  /** Settles when the command has ended or nothing more can be reported. */
  readonly ended: Promise<void>;
}

function readStatus(stream: Duplex | undefined): Status {
  let text = '';
  let start = (_: number | null) => {};
  let settle = () => {};
  const status: Status = {
    childPid: null,
    exit: null,
    started: new Promise((resolve) => (start = resolve)),
    ended: new Promise((resolve) => (settle = resolve)),
  };
  const end = () => {
    start(status.childPid);
    settle();
  };
  const read = (pattern: RegExp) => {
    const found = pattern.exec(text)?.[1];
    return found === undefined ? null : Number(found);
  };
  stream?.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
    status.childPid = read(/"child-pid": (\d+)/);
    status.exit = read(/"exit-code": (\d+)/);
    if (status.childPid !== null) start(status.childPid);
    if (status.exit !== null) end();
  });
  stream?.once('end', () => end());
  stream?.once('close', () => end());
  return status;
}

/** The first process of a pid namespace is gone (or a zombie nobody reaps) only after everything in the namespace is. */
async function processGone(pid: number): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    let stat: string;
    try {
      stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    } catch {
      return;
    }
    if (/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2))) return;
    if (attempt > 2000) throw new SandboxError(`process ${pid} of the sandbox does not die`);
    await sleep(attempt < 20 ? 1 : 5);
  }
}
