import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { valueOr } from '../../../base/value-or.ts';
import type { LayoutLimits } from '../mounts/layout.ts';

/** A cgroup hierarchy, and the name of the file that sets each limit; null if the hierarchy lacks the limit. */
interface Hierarchy {
  readonly folder: string;
  readonly processes: string | null;
  readonly memory: string | null;
}

/** Limits for process trees. For root no other limits work, because per-user limits skip uid 0. */
export interface Cgroups {
  readonly processes: boolean;
  readonly memory: boolean;
  create(limits: LayoutLimits): CommandCgroup;
}

export interface CommandCgroup {
  /** Moves a process into the groups. Ignores a process that has already exited. */
  join(pid: number): Promise<void>;
  /** True if the groups contain this process and no other. */
  holdsOnly(pid: number): boolean;
  remove(): Promise<void>;
  /** Removes the groups at the exit of the process, where nothing can be awaited. */
  removeNow(): void;
}

const MOUNT = '/sys/fs/cgroup';
const PREFIX = 'hopgate-';

/** Contains the pid, to recognise groups of killed processes, and random text, because pids are reused. */
const newName = (): string => `${PREFIX}${process.pid}-${randomUUID()}`;

/** Creates a test group to find the usable cgroups; null if none can be created. */
export function probeCgroups(): Cgroups | null {
  const hierarchies = candidateHierarchies().filter(isWritable);
  if (hierarchies.length === 0) return null;
  for (const { folder } of hierarchies) removeStale(folder);
  return {
    processes: hierarchies.some(({ processes }) => processes !== null),
    memory: hierarchies.some(({ memory }) => memory !== null),
    create(limits) {
      const name = newName();
      const groups = hierarchies.map((hierarchy) => makeGroup(hierarchy, name, limits));
      return {
        // One write after the other: the first takes some 10 ms, in which all processors synchronise.
        join: async (pid) => {
          for (const group of groups) await moveTo(group, pid);
        },
        holdsOnly: (pid) => groups.every((group) => processesIn(group) === `${pid}\n`),
        remove: () => removeAll(groups),
        removeNow: () => removeAllNow(groups),
      };
    },
  };
}

function candidateHierarchies(): Hierarchy[] {
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
  return valueOr(() => {
    mkdirSync(group);
    rmdirSync(group);
    return true;
  }, false);
}

function makeGroup(hierarchy: Hierarchy, name: string, limits: LayoutLimits): string {
  const group = `${hierarchy.folder}/${name}`;
  mkdirSync(group);
  if (hierarchy.processes) writeFileSync(`${group}/${hierarchy.processes}`, `${limits.processes}`);
  const { memoryBytes } = limits;
  if (hierarchy.memory && Number.isFinite(memoryBytes)) writeFileSync(`${group}/${hierarchy.memory}`, `${memoryBytes}`);
  return group;
}

async function moveTo(group: string, pid: number): Promise<void> {
  try {
    await writeFile(`${group}/cgroup.procs`, `${pid}`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

const processesIn = (group: string): string | null =>
  valueOr(() => readFileSync(`${group}/cgroup.procs`, 'latin1'), null);

const ATTEMPTS = 100;
const PAUSE_MS = 5;

/** Removes groups. Tries several times, because the kernel frees a group shortly after its last process has exited. */
async function removeAll(groups: readonly string[]): Promise<void> {
  for (const group of groups)
    for (let attempt = 0; attempt < ATTEMPTS && !isRemoved(group); attempt += 1) await sleep(PAUSE_MS);
}

function removeAllNow(groups: readonly string[]): void {
  const clock = new Int32Array(new SharedArrayBuffer(4));
  for (const group of groups)
    for (let attempt = 0; attempt < ATTEMPTS && !isRemoved(group); attempt += 1) Atomics.wait(clock, 0, 0, 1);
}

/** False if the group is still in use. */
function isRemoved(group: string): boolean {
  try {
    rmdirSync(group);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'EBUSY';
  }
}

/** Removes the groups of killed processes; rmdir refuses groups that are still in use. */
function removeStale(folder: string): void {
  for (const name of readdirSync(folder)) {
    const pid = /^hopgate-(\d+)-/.exec(name)?.[1];
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    valueOr(() => rmdirSync(`${folder}/${name}`), null); // A group in use stays.
  }
}
