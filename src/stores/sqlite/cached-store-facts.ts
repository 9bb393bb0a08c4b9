import { isLeaseHolderGone } from '../../base/process-holder.ts';
import type { StoreFacts } from '../rules/append-rules.ts';
import type { openEntryTables } from './sqlite-entries.ts';
import { SQLITE_STORE_NAME } from './sqlite-error.ts';
import type { openLeaseTable } from './sqlite-leases.ts';
import type { StoreWriteCache } from './write-cache.ts';

/**
 * The facts of the store that the rules for writing read. They come from the cache, so use them only inside a write
 * transaction of this connection: no other process writes then.
 */
export function storeFactsFromCache(
  entries: ReturnType<typeof openEntryTables>,
  leases: ReturnType<typeof openLeaseTable>,
  cache: StoreWriteCache,
): StoreFacts {
  return {
    name: SQLITE_STORE_NAME,
    isGone: isLeaseHolderGone,
    leaseOf: (sessionId) => cache.lease(sessionId, leases.get),
    headOf: (sessionId) => cache.head(sessionId, entries.last),
    find: entries.find,
    has: (id) => cache.hasId(id) || entries.has(id),
    hasEphemeral: entries.hasEphemeral,
  };
}
