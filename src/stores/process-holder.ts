import { readFileSync, readlinkSync } from 'node:fs';

/** Where a process is told apart from every other: this boot, its process namespace, its number, and when it started. */
const MARK = /@([0-9a-f-]+)\.(\d+)\.(\d+)\.(\d+)$/;

interface Host {
  readonly boot: string;
  readonly namespace: string;
}

/** null where the kernel does not tell (not Linux): then nobody is ever called gone. */
function readHost(): Host | null {
  try {
    return {
      boot: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
      namespace: readlinkSync('/proc/self/ns/pid').replace(/\D/g, ''),
    };
  } catch {
    return null;
  }
}

/** When a process started, in clock ticks since boot; null if there is no such process. */
function startOf(pid: string): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may hold anything; the fields are counted from behind it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const isZombie = fields[0] === 'Z' || fields[0] === 'X';
    return isZombie ? null : (fields[19] ?? null);
  } catch {
    return null;
  }
}

const host = readHost();
const own = host && startOf(String(process.pid));

/** A lease holder's name that tells which process it lives in, so that others can see when it is gone. */
export function processHolder(id: string): string {
  return host && own ? `${id}@${host.boot}.${host.namespace}.${process.pid}.${own}` : id;
}

/**
 * Whether the process behind a holder has certainly ended: same boot, same process namespace, and no such process any more. In doubt it has
 * not: then only its lease decides.
 */
export function isGone(holder: string): boolean {
  const [, boot, namespace, pid = '', start] = MARK.exec(holder) ?? [];
  if (boot === undefined || !host || boot !== host.boot || namespace !== host.namespace) return false;
  return startOf(pid) !== start;
}
