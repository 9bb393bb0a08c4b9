import type { IdGenerator } from '../../ports/ids.ts';

/** Ids that count up (`entry-1`, `session-2`), so that a test's evidence is the same every time. */
export function countingIds(prefix = ''): IdGenerator {
  let next = 1;
  return { next: (kind) => `${prefix}${kind}-${next++}` };
}
