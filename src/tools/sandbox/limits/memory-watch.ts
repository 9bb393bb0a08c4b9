import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

const INTERVAL_MS = 200;

/**
 * Limits the memory of a sandbox where no cgroup does: if its processes together use more, the largest one is killed,
 * as the kernel does it in a cgroup. A limit of the kernel for each process would count reserved addresses too, of
 * which sanitizers need terabytes, and would not apply to all processes together.
 *
 * @param first the first process of the sandbox; null until it has started
 * @returns a function that ends the watch
 */
export function watchMemory(first: () => number | null, bytes: number): () => void {
  if (!Number.isFinite(bytes)) return () => {};
  const timer = setInterval(() => {
    const init = first();
    const namespace = init === null ? null : namespaceOf(`${init}`);
    if (namespace !== null) killIfAbove(bytes, namespace);
  }, INTERVAL_MS);
  return () => clearInterval(timer);
}

function killIfAbove(bytes: number, namespace: string): void {
  const processes = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && namespaceOf(name) === namespace)
    .map((pid) => ({ pid, bytes: sizeOf(pid, 'status', /^Rss(?:Anon|Shmem):\s+(\d+)/gm) }));
  if (sum(processes) <= bytes) return;
  // Pages that processes share after a fork count once.
  const shares = processes.map(({ pid }) => ({
    pid,
    bytes: sizeOf(pid, 'smaps_rollup', /^Pss_(?:Anon|Shmem):\s+(\d+)/gm),
  }));
  if (sum(shares) <= bytes) return;
  const largest = shares.reduce((a, b) => (b.bytes > a.bytes ? b : a));
  try {
    process.kill(Number(largest.pid), 'SIGKILL');
  } catch {
    // it has exited
  }
}

const sum = (all: readonly { readonly bytes: number }[]): number => all.reduce((total, { bytes }) => total + bytes, 0);

/** The sum of sizes that the kernel states in KiB; 0 if the process has exited. */
function sizeOf(pid: string, file: string, pattern: RegExp): number {
  try {
    const sizes = readFileSync(`/proc/${pid}/${file}`, 'latin1').matchAll(pattern);
    return [...sizes].reduce((total, [, size]) => total + Number(size) * 1024, 0);
  } catch {
    return 0;
  }
}

function namespaceOf(pid: string): string | null {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`);
  } catch {
    return null;
  }
}
