import type { FoundEntry } from '../../evidence/evidence-query.ts';
import { isoTime, storeError } from './append-rules.ts';

/** Returns an entry and all its ancestors, the oldest first. Replies point backwards only, so this terminates. */
export function readReplyChain(
  store: string,
  id: string,
  find: (id: string) => FoundEntry | null,
): readonly FoundEntry[] {
  const chain: FoundEntry[] = [];
  for (let next: string | undefined = id; next !== undefined; ) {
    const found: FoundEntry | null = find(next);
    if (found === null) {
      if (chain.length === 0) throw entryNotFoundError(store, id);
      break; // The parent was ephemeral and was removed.
    }
    chain.push(found);
    next = found.entry.inReplyTo;
  }
  return chain.reverse();
}

export const entryNotFoundError = (store: string, id: string) =>
  storeError(store, 'entry-not-found', `there is no entry ${id}; look it up with a query`);

/**
 * The refusal to erase while a writer is active: the writer's in-memory state would still contain the erased bodies.
 */
export const sessionBusyError = (
  store: string,
  sessionId: string,
  { holder, until }: { readonly holder: string; readonly until: number },
) =>
  storeError(
    store,
    'session-busy',
    `session ${sessionId} is being written by ${holder} until ${isoTime(until)}; end that writer before you erase`,
  );
