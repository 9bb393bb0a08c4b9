import type { StoredEntry } from '../../evidence/entry.ts';
import type { EvidenceStore } from '../../ports/evidence-store.ts';
import { type CloudEvent, makeResyncEvent, toCloudEvent } from './cloud-event.ts';
import type { NewEntryNotifier } from './entry-feed.ts';

/** Maximum number of entries per read. */
const PAGE = 256;
/** Maximum number of characters per read. */
const PAGE_CHARACTERS = 1 << 19;
/** A live reader that is further behind than this gets a resync marker instead of the entries. */
export const MAX_LAG_ENTRIES = 10_000;
/** Time without an entry after which a keep-alive is sent, in milliseconds. */
export const KEEP_ALIVE_MS = 15_000;

/** One event, and the cursor from which a stream continues after it. */
export interface EventWithCursor {
  readonly event: CloudEvent;
  readonly cursor: string;
}

interface FollowOptions {
  readonly store: EvidenceStore;
  readonly feed: NewEntryNotifier;
  readonly sessionId: string;
  /** The last `seq` that the reader has; -1 for none. */
  readonly after: number;
  readonly signal: AbortSignal;
  /** The data of the events of consecutive entries. */
  readonly form: (page: readonly StoredEntry[]) => Promise<readonly unknown[]>;
}

/**
 * A session's entries as events, in batches: those after a position, then new ones as they arrive. An empty batch is a
 * keep-alive. Each batch is read from the store only when the reader is ready for it, so that a slow reader needs the
 * memory of only one batch.
 */
export async function* followSession(options: FollowOptions): AsyncGenerator<readonly EventWithCursor[]> {
  const { store, feed, sessionId, signal, form } = options;
  let next = options.after + 1;
  let isLive = false;
  while (!signal.aborted) {
    const changed = feed.changed(sessionId, KEEP_ALIVE_MS, signal);
    if (isLive) {
      const { seq } = await store.head(sessionId);
      if (seq - next >= MAX_LAG_ENTRIES) {
        next = seq + 1;
        yield [{ event: makeResyncEvent(sessionId, seq), cursor: String(seq) }];
        continue;
      }
    }
    const page = await pageOf(store, sessionId, next);
    if (page.length === 0) {
      isLive = true;
      await changed;
      if (!signal.aborted && (await store.head(sessionId)).seq < next) yield [];
      continue;
    }
    next = page.at(-1)!.entry.seq + 1;
    const data = await form(page);
    yield page.map((stored, i) => ({ event: toCloudEvent(stored, data[i]), cursor: String(stored.entry.seq) }));
  }
}

async function pageOf(store: EvidenceStore, sessionId: string, from: number): Promise<readonly StoredEntry[]> {
  const page: StoredEntry[] = [];
  let characters = 0;
  for await (const stored of store.entries(sessionId, { from })) {
    page.push(stored);
    characters += stored.head.length + (stored.body?.length ?? 0);
    if (page.length >= PAGE || characters >= PAGE_CHARACTERS) break;
  }
  return page;
}
