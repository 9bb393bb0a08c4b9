import { setTimeout as sleep } from 'node:timers/promises';
import { BoundedRun } from './bounded-run.ts';
import { killProcessGroup, startProcess, waitForExit } from './child-process.ts';
import type { SandboxLayout } from './mounts/layout.ts';
import { type CommandOptions, type CommandResult, SandboxError } from './sandbox.ts';

/** How long a process that has left the group may keep hopgate's pipes open. */
const SURVIVOR_GRACE_MS = 500;

/**
 * Runs `argv` without a sandbox: only the time and output limits apply, and a process that leaves its group survives.
 * For operators who allowed the shell tools on a host without bubblewrap.
 */
export async function runUnsandboxed(
  layout: SandboxLayout,
  argv: readonly string[],
  options: CommandOptions,
): Promise<CommandResult> {
  const { PATH = '/usr/local/bin:/usr/bin:/bin', HOME = '/' } = process.env;
  const started = startProcess(argv, {
    cwd: layout.chdir,
    env: { ...layout.env, PATH, HOME, ...options.env },
    stdio: [options.stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  const { stdin, stdout: out, stderr: err } = started;
  const exited = waitForExit(started);
  const boundedRun = new BoundedRun({ stdout: out!, stderr: err! }, options, () => killProcessGroup(started));
  stdin?.on('error', () => {}).end(options.stdin);
  try {
    const { code, signal } = await exited;
    boundedRun.settle();
    // Kill background processes that the command left.
    killProcessGroup(started);
    await Promise.race([boundedRun.outputEnded, sleep(SURVIVOR_GRACE_MS, undefined, { ref: false })]);
    out!.destroy();
    err!.destroy();
    return { ...boundedRun.report(), exit: code, signal };
  } catch (error) {
    throw new SandboxError(`cannot start ${argv[0]}: ${(error as Error).message}`, { cause: error });
  } finally {
    boundedRun.settle();
  }
}
