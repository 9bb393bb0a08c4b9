import type { BlockedSender } from '../ports/message-store.ts';

/**
 * The cycle that a new wait would close, from the waiter back to itself; null if there is none. Waits that ended are
 * ignored. Pure.
 *
 * @example
 * const waits = [{ id: '1', waiter: 'b', target: 'a', until: 9 }];
 * findWaitCycle(waits, { waiter: 'a', target: 'b' }, 0) // ['a', 'b', 'a']
 */
export function findWaitCycle(
  waits: readonly BlockedSender[],
  { waiter, target }: Pick<BlockedSender, 'waiter' | 'target'>,
  now: number,
): readonly string[] | null {
  const open = waits.filter(({ until }) => until > now);
  const seen = new Set<string>();
  const paths: (readonly string[])[] = [[waiter, target]];
  for (let path = paths.pop(); path; path = paths.pop()) {
    const last = path.at(-1)!;
    if (last === waiter) return path;
    if (seen.has(last)) continue;
    seen.add(last);
    for (const each of open) if (each.waiter === last) paths.push([...path, each.target]);
  }
  return null;
}
