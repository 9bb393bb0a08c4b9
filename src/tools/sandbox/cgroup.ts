import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LayoutLimits } from './layout.ts';

/** A cgroup hierarchy in which we may make groups, and the file that holds each limit there (null: not here). */
interface Hierarchy {
  readonly folder: string;
  readonly processes: string | null;
  readonly memory: string | null;
}

/** Limits that the kernel puts on a whole process tree; uid 0 escapes the per-user ones, so as root these are the only ones that bite. */
export interface Cgroups {
  readonly processes: boolean;
  readonly memory: boolean;
  /**
   * Tells the kernel that a process is going to be moved. Moving one waits for every processor to take notice of an earlier move or of none, some
   * 10 ms; by moving ourselves to where we are that wait goes by while the sandbox starts.
   */
  announce(): void;
  /** Makes the groups for one run. */
  create(limits: LayoutLimits): ControlGroup;
}

/** The groups of one run. */
export interface ControlGroup {
  /** Moves a process into them; one that is gone already is none. */
  join(pid: number): Promise<void>;
  remove(): Promise<void>;
}

const MOUNT = '/sys/fs/cgroup';
const PREFIX = 'hopgate-';

/** Names the process, so that what a killed one left can be told; random besides, as pids come back and threads share theirs. */
const newName = (): string => `${PREFIX}${process.pid}-${randomUUID()}`;

/** The cgroups that can be made here, found by making one; null if none can. */
export function probeCgroups(): Cgroups | null {
  const hierarchies = candidates().filter(isWritable);
  if (hierarchies.length === 0) return null;
  for (const { folder } of hierarchies) removeStale(folder);
  const own = ownGroup(hierarchies[0]!);
  return {
    announce() {
      if (own !== null) writeFile(`${own}/cgroup.procs`, `${process.pid}`).catch(() => {});
    },
    processes: hierarchies.some(({ processes }) => processes !== null),
    memory: hierarchies.some(({ memory }) => memory !== null),
    create(limits) {
      const name = newName();
      const groups = hierarchies.map((hierarchy) => makeGroup(hierarchy, name, limits));
      return {
        join: async (pid) => {
          await Promise.all(groups.map((group) => moveTo(group, pid)));
        },
        remove: () => removeAll(groups),
      };
    },
  };
}

function candidates(): Hierarchy[] {
  if (existsSync(`${MOUNT}/cgroup.controllers`)) {
    const controllers = readFileSync(`${MOUNT}/cgroup.subtree_control`, 'utf8').trim().split(' ');
    const has = (name: string, file: string) => (controllers.includes(name) ? file : null);
    return [{ folder: MOUNT, processes: has('pids', 'pids.max'), memory: has('memory', 'memory.max') }];
  }
  return [
    { folder: `${MOUNT}/pids`, processes: 'pids.max', memory: null },
    { folder: `${MOUNT}/memory`, processes: null, memory: 'memory.limit_in_bytes' },
  ];
}

function isWritable(hierarchy: Hierarchy): boolean {
  if (hierarchy.processes === null && hierarchy.memory === null) return false;
  const group = `${hierarchy.folder}/${newName()}`;
  try {
    mkdirSync(group);
    rmdirSync(group);
    return true;
  } catch {
    return false;
  }
}

function makeGroup(hierarchy: Hierarchy, name: string, limits: LayoutLimits): string {
  const group = `${hierarchy.folder}/${name}`;
  mkdirSync(group);
  if (hierarchy.processes) writeFileSync(`${group}/${hierarchy.processes}`, `${limits.processes}`);
  if (hierarchy.memory) writeFileSync(`${group}/${hierarchy.memory}`, `${limits.memoryBytes}`);
  return group;
}

async function moveTo(group: string, pid: number): Promise<void> {
  try {
    await writeFile(`${group}/cgroup.procs`, `${pid}`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** The group that we are in ourselves; null if its folder is not to be seen here. */
function ownGroup({ folder }: Hierarchy): string | null {
  const controller = folder === MOUNT ? '' : folder.slice(MOUNT.length + 1);
  const lines = readFileSync('/proc/self/cgroup', 'utf8').split('\n');
  const path = lines.map((line) => /^\d+:([^:]*):(.*)$/.exec(line)).find((found) => found?.[1] === controller)?.[2];
  const own = path === undefined ? null : `${folder}${path}`;
  return own !== null && existsSync(`${own}/cgroup.procs`) ? own : null;
}

/** The kernel lets go of a group shortly after its last process is gone. */
async function removeAll(groups: readonly string[]): Promise<void> {
  for (const group of groups)
    for (let attempt = 0; attempt < 100; attempt += 1) {
      try {
        rmdirSync(group);
        break;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EBUSY') break;
        await sleep(5);
      }
    }
}

/** Groups of engines that were killed: rmdir refuses those that are still in use. */
function removeStale(folder: string): void {
  for (const name of readdirSync(folder)) {
    const pid = /^hopgate-(\d+)-/.exec(name)?.[1];
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    try {
      rmdirSync(`${folder}/${name}`);
    } catch {
      // in use after all
    }
  }
}
