import { isHolderGone } from '../../base/process-holder.ts';
import type { StoreView } from '../rules/append-rules.ts';
import type { entryTable } from './sqlite-entries.ts';
import { SQLITE_STORE_NAME } from './sqlite-error.ts';
import type { leaseTable } from './sqlite-leases.ts';
import type { WriteCache } from './write-cache.ts';

/**
 * The facts of the store that the rules for writing read. They come from the cache, so use them only inside a write
 * transaction of this connection: no other process writes then.
 */
export function writeView(
  entries: ReturnType<typeof entryTable>,
  leases: ReturnType<typeof leaseTable>,
  cache: WriteCache,
): StoreView {
  return {
    name: SQLITE_STORE_NAME,
    isGone: isHolderGone,
    leaseOf: (sessionId) => cache.lease(sessionId, leases.get),
    headOf: (sessionId) => cache.head(sessionId, entries.last),
    find: entries.find,
    has: (id) => cache.hasId(id) || entries.has(id),
    hasEphemeral: entries.hasEphemeral,
  };
}
