import { setImmediate } from 'node:timers/promises';
import type { StoredEntry } from '../evidence/entry.ts';

/** Number of entries after which other requests may run. */
const TURN_ENTRIES = 100;

/** Yields the entries, and lets other requests run in between: a store that answers immediately would block them. */
export async function* readInTurns(entries: AsyncIterable<StoredEntry>): AsyncGenerator<StoredEntry> {
  let count = 0;
  for await (const stored of entries) {
    if (++count % TURN_ENTRIES === 0) await setImmediate();
    yield stored;
  }
}
