import { readdirSync, readFileSync } from 'node:fs';
import { readLinkOrNull } from '../../../base/files.ts';
import { sendSignal } from '../../../base/process.ts';

const INTERVAL_MS = 200;

/**
 * Limits the memory of a sandbox if no cgroup can: if its processes together use more, the largest one is killed, as in
 * a cgroup. A kernel limit for each process would also count reserved addresses, of which sanitizers need terabytes,
 * and would not apply to all processes together.
 * @param firstProcessId returns the id of the sandbox's first process; null until it has started
 * @returns a function that ends the watch
 */
export function limitSandboxMemory(firstProcessId: () => number | null, bytes: number): () => void {
  if (!Number.isFinite(bytes)) return () => {};
  const timer = setInterval(() => {
    const init = firstProcessId();
    if (init !== null) killIfAbove(bytes, membersOf(`${init}`));
  }, INTERVAL_MS);
  return () => clearInterval(timer);
}

/**
 * The processes of a sandbox: all processes in the namespace of its first process. Reading a namespace needs a right
 * over the process, which root in a container may lack. Then the descendants of the first process are used, which are
 * the same processes.
 */
function membersOf(init: string): readonly string[] {
  const namespace = namespaceOf(init);
  return namespace === null
    ? descendantsOf(init)
    : readdirSync('/proc').filter((name) => /^\d+$/.test(name) && namespaceOf(name) === namespace);
}

function descendantsOf(pid: string): readonly string[] {
  try {
    const tasks = readdirSync(`/proc/${pid}/task`);
    const children = tasks.flatMap(
      (task) => readFileSync(`/proc/${pid}/task/${task}/children`, 'latin1').match(/\d+/g) ?? [],
    );
    return [pid, ...children.flatMap(descendantsOf)];
  } catch {
    // The process has exited.
    return [];
  }
}

function killIfAbove(bytes: number, members: readonly string[]): void {
  const processes = members.map((pid) => ({ pid, bytes: sizeOf(pid, 'status', /^Rss(?:Anon|Shmem):\s+(\d+)/gm) ?? 0 }));
  if (sum(processes) <= bytes) return;
  // Pages that processes share after a fork count once, if that can be read.
  const shares = processes.map((each) => ({
    pid: each.pid,
    bytes: sizeOf(each.pid, 'smaps_rollup', /^Pss_(?:Anon|Shmem):\s+(\d+)/gm) ?? each.bytes,
  }));
  if (sum(shares) <= bytes) return;
  const largest = shares.reduce((a, b) => (b.bytes > a.bytes ? b : a));
  sendSignal(Number(largest.pid), 'SIGKILL');
}

const sum = (all: readonly { readonly bytes: number }[]): number => all.reduce((total, { bytes }) => total + bytes, 0);

/** The sum of sizes that the kernel states in KiB; 0 if the process has exited, null if the file may not be read. */
function sizeOf(pid: string, file: string, pattern: RegExp): number | null {
  try {
    const sizes = readFileSync(`/proc/${pid}/${file}`, 'latin1').matchAll(pattern);
    return [...sizes].reduce((total, [, size]) => total + Number(size) * 1024, 0);
  } catch (error) {
    return ['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '') ? null : 0;
  }
}

const namespaceOf = (pid: string): string | null => readLinkOrNull(`/proc/${pid}/ns/pid`);
