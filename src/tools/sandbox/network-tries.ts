import { closeSync, openSync, readFileSync } from 'node:fs';
import { valueOr } from '../../base/value-or.ts';

export interface NetworkTryCounter {
  /** The number of tries so far; also works after the sandbox has ended. */
  count(): number;
  close(): void;
}

/**
 * The kernel's own counters of a sandbox's network namespace. An open file keeps the namespace, so the last value can
 * be read after the command has ended.
 * @param pid a process of the sandbox, on the host
 */
export function countNetworkTries(pid: number): NetworkTryCounter {
  // No file if the sandbox has ended, or the kernel has no IPv6.
  const files = ['snmp', 'snmp6'].flatMap((name) => valueOr(() => openSync(`/proc/${pid}/net/${name}`, 'r'), []));
  return {
    count: () => files.map((file) => noRoutes(readFileSync(file, 'latin1'))).reduce((sum, each) => sum + each, 0),
    close: () => {
      for (const file of files) closeSync(file);
    },
  };
}

/** Reads OutNoRoutes in the kernel's text: a table with a row of names (IPv4), or a line for each counter (IPv6). */
function noRoutes(text: string): number {
  const ipv6 = /^Ip6OutNoRoutes\s+(\d+)/m.exec(text);
  if (ipv6) return Number(ipv6[1]);
  const [names = [], values = []] = text
    .split('\n')
    .filter((line) => line.startsWith('Ip: '))
    .map((line) => line.split(' '));
  return Number(values[names.indexOf('OutNoRoutes')] ?? 0);
}
