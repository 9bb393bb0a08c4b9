import { setTimeout as sleep } from 'node:timers/promises';
import { runAtProcessExit } from './at-exit.ts';
import { commandShellArgv, type HostUser, type SandboxHostFacts } from './command-message.ts';
import { CommandShell } from './command-shell.ts';
import type { Cgroups } from './limits/cgroup.ts';
import { overlaysOfLayout } from './mounts/bwrap-arguments.ts';
import type { SandboxLayout } from './mounts/layout.ts';
import { asSandboxError } from './sandbox.ts';

/** A pool of shells: each is kept for a while for the next command with the same fixed arguments. */
export interface CommandShells {
  /**
   * Calls `work` with a shell that no other command uses at the same time.
   * @throws SandboxError if no shell can be started, or its limits cannot be enforced
   */
  use<T>(layout: SandboxLayout, runAs: HostUser | null, work: (shell: CommandShell) => Promise<T>): Promise<T>;
}

const IDLE_MS = 5 * 60_000;
const MAX_IDLE = 4;
/** Maximum number of commands per shell, because their page cache stays in the memory of its control group. */
const MAX_RUNS = 500;
/** Number of checks for an empty control group: the kernel needs a moment to remove a sandbox's processes. */
const ATTEMPTS = 50;

interface IdleShell {
  readonly key: string;
  readonly shell: CommandShell;
  readonly timer: NodeJS.Timeout;
}

export function makeCommandShells(host: SandboxHostFacts, cgroups: Cgroups | null): CommandShells {
  const all = new Set<CommandShell>();
  const idle: IdleShell[] = [];
  runAtProcessExit(() => {
    for (const shell of all) shell.kill();
    for (const shell of all) shell.endNow();
  });
  const end = async (shell: CommandShell): Promise<void> => {
    await shell.end();
    all.delete(shell);
  };
  const takeIdle = (isWanted: (each: IdleShell) => boolean): CommandShell | null => {
    const at = idle.findIndex(isWanted);
    if (at === -1) return null;
    const [{ shell, timer }] = idle.splice(at, 1) as [IdleShell];
    clearTimeout(timer);
    return shell;
  };
  const take = async (key: string, make: () => CommandShell): Promise<CommandShell> => {
    const idleShell = takeIdle((each) => each.key === key);
    if (idleShell?.isAlive && idleShell.isReachable) {
      idleShell.keepsProcessAlive = true;
      return idleShell;
    }
    if (idleShell) void end(idleShell);
    const shell = asSandboxError(make);
    all.add(shell);
    try {
      await shell.ready();
      return shell;
    } catch (error) {
      await end(shell);
      throw error;
    }
  };
  const giveBack = async (key: string, shell: CommandShell, hasOverlay: boolean): Promise<void> => {
    for (let attempt = 0; shell.isAlive && !shell.isEmpty && attempt < ATTEMPTS; attempt += 1) await sleep(2);
    if (!shell.isAlive || !shell.isEmpty || shell.runs >= MAX_RUNS) return end(shell);
    if (hasOverlay) shell.release();
    shell.keepsProcessAlive = false;
    const drop = () => {
      if (takeIdle((each) => each.shell === shell)) void end(shell);
    };
    idle.push({ key, shell, timer: setTimeout(drop, IDLE_MS).unref() });
    if (idle.length > MAX_IDLE) void end(takeIdle(() => true)!);
  };
  return {
    async use(layout, runAs, work) {
      const command = commandShellArgv(host, layout, runAs);
      const { processes, memoryBytes } = layout.limits;
      const key = JSON.stringify([command(''), processes, memoryBytes]);
      const hasChannel = layout.proxy === true;
      const group = () => cgroups?.create(layout.limits) ?? null;
      const shell = await take(key, () => new CommandShell(command, host.supportFiles.folder, group(), hasChannel));
      try {
        return await work(shell);
      } catch (error) {
        shell.kill();
        throw error;
      } finally {
        // The command's result need not wait for this. A shell that cannot be returned to the pool is killed at exit.
        giveBack(key, shell, overlaysOfLayout(layout).length > 0).catch(() => {});
      }
    },
  };
}
