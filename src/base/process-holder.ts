import { readFileSync, readlinkSync } from 'node:fs';
import { isAlive } from './process.ts';
import { valueOr } from './value-or.ts';

/** Suffix that identifies a process: boot id, pid namespace, pid, start time. */
const MARK = /@([0-9a-f-]+)\.(\d+)\.(\d+)\.(\d+)$/;

/**
 * Reads the boot id and the pid namespace; null on systems other than Linux, on which no holder is ever considered
 * gone.
 */
const readHost = () =>
  valueOr(
    () => ({
      boot: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
      namespace: readlinkSync('/proc/self/ns/pid').replace(/\D/g, ''),
    }),
    null,
  );

/** Start time of a process in clock ticks since boot; null if it has exited, or the kernel does not report it. */
export function processStartTime(pid: number | string): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may contain anything, so the fields are counted after it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const isZombie = fields[0] === 'Z' || fields[0] === 'X';
    return isZombie ? null : (fields[19] ?? null);
  } catch {
    return null;
  }
}

const host = readHost();
const own = host && processStartTime(process.pid);

/** Adds the process to a lease holder's name, so that other processes can detect the end of the process. */
export const nameLeaseHolder = (id: string): string =>
  host && own ? `${id}@${host.boot}.${host.namespace}.${process.pid}.${own}` : id;

/** A lease holder's name for people: its process, if the name has one. */
export function describeLeaseHolder(holder: string): string {
  const pid = MARK.exec(holder)?.[3];
  return pid === undefined ? holder : `process ${pid}`;
}

/**
 * True only if the holder's process has certainly ended: same boot, same pid namespace, and no such process. False in
 * doubt: the lease then ends only when it expires.
 */
export function isLeaseHolderGone(holder: string): boolean {
  const [, boot, namespace, pid = '', start] = MARK.exec(holder) ?? [];
  if (boot === undefined || !host || boot !== host.boot || namespace !== host.namespace) return false;
  return processStartTime(pid) !== start;
}

/**
 * True if the holder's process runs in this boot and pid namespace. On other systems than Linux, `holder` is only a
 * pid.
 */
export function isLeaseHolderRunning(holder: string): boolean {
  const [, boot, namespace, pid = '', start] = MARK.exec(holder) ?? [];
  if (boot === undefined || !host) return isAlive(Number(holder));
  return boot === host.boot && namespace === host.namespace && processStartTime(pid) === start;
}

interface Lease {
  readonly holder: string;
  /** Epoch milliseconds. */
  readonly until: number;
}

/** True if the lease is valid and its holder's process has not certainly ended. */
export const hasLiveLease = ({ lease }: { readonly lease: Lease | null }): boolean =>
  lease !== null && lease.until > Date.now() && !isLeaseHolderGone(lease.holder);
