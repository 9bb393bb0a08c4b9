import { setTimeout as sleep } from 'node:timers/promises';
import { atExit } from './at-exit.ts';
import { type HostIdentity, runnerCommand, type SandboxHost } from './launch.ts';
import type { Cgroups } from './limits/cgroup.ts';
import { overlaysOf } from './mounts/bwrap-arguments.ts';
import type { SandboxLayout } from './mounts/layout.ts';
import { Runner } from './runner.ts';
import { prepared } from './sandbox.ts';

/** A pool of runners: each is kept for a while for the next command with the same fixed arguments. */
export interface Runners {
  /**
   * Calls `work` with a runner that runs nothing else meanwhile.
   *
   * @throws SandboxError if no runner can be started, or its limits cannot be enforced
   */
  use<T>(layout: SandboxLayout, runAs: HostIdentity | null, work: (runner: Runner) => Promise<T>): Promise<T>;
}

const IDLE_MS = 5 * 60_000;
const MOST_IDLE = 4;
/** Commands per runner: earlier commands' page cache counts towards the group's memory until it is removed. */
const MOST_RUNS = 500;
/** Attempts to find the group empty: the kernel needs a moment to remove a sandbox's processes. */
const ATTEMPTS = 50;

interface Idle {
  readonly key: string;
  readonly runner: Runner;
  readonly timer: NodeJS.Timeout;
}

export function makeRunners(host: SandboxHost, cgroups: Cgroups | null): Runners {
  const all = new Set<Runner>();
  const idle: Idle[] = [];
  atExit(() => {
    for (const runner of all) runner.kill();
    for (const runner of all) runner.endNow();
  });
  const end = async (runner: Runner): Promise<void> => {
    await runner.end();
    all.delete(runner);
  };
  const takeIdle = (isWanted: (each: Idle) => boolean): Runner | null => {
    const at = idle.findIndex(isWanted);
    if (at === -1) return null;
    const [{ runner, timer }] = idle.splice(at, 1) as [Idle];
    clearTimeout(timer);
    return runner;
  };
  const take = async (key: string, make: () => Runner): Promise<Runner> => {
    const known = takeIdle((each) => each.key === key);
    if (known?.isAlive && known.isReachable) {
      known.keepsProcessAlive = true;
      return known;
    }
    if (known) void end(known);
    const runner = prepared(make);
    all.add(runner);
    try {
      await runner.ready();
      return runner;
    } catch (error) {
      await end(runner);
      throw error;
    }
  };
  const giveBack = async (key: string, runner: Runner, hasOverlay: boolean): Promise<void> => {
    for (let attempt = 0; runner.isAlive && !runner.isEmpty && attempt < ATTEMPTS; attempt += 1) await sleep(2);
    if (!runner.isAlive || !runner.isEmpty || runner.runs >= MOST_RUNS) return end(runner);
    if (hasOverlay) runner.release();
    runner.keepsProcessAlive = false;
    const drop = () => {
      if (takeIdle((each) => each.runner === runner)) void end(runner);
    };
    idle.push({ key, runner, timer: setTimeout(drop, IDLE_MS).unref() });
    if (idle.length > MOST_IDLE) void end(takeIdle(() => true)!);
  };
  return {
    async use(layout, runAs, work) {
      const command = runnerCommand(host, layout, runAs);
      const { processes, memoryBytes } = layout.limits;
      const key = JSON.stringify([command(''), processes, memoryBytes]);
      const hasChannel = layout.proxy === true;
      const group = () => cgroups?.create(layout.limits) ?? null;
      const runner = await take(key, () => new Runner(command, host.supportFiles.folder, group(), hasChannel));
      try {
        return await work(runner);
      } catch (error) {
        runner.kill();
        throw error;
      } finally {
        // Not awaited; a runner that cannot be given back is killed at exit.
        giveBack(key, runner, overlaysOf(layout).length > 0).catch(() => {});
      }
    },
  };
}
