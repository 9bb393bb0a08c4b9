import { isGone } from '../base/process-holder.ts';
import type { StoredBytes } from '../evidence/chain.ts';
import { EMPTY_CHAIN } from '../evidence/entry.ts';
import { type LeaseRow, readStored, type StoreView } from './rules/append-rules.ts';
import type { STORE_SQL, Statements } from './statements.ts';
import type { Last, WriteCache } from './write-cache.ts';

/**
 * The facts of the store that the rules read. `ours` may be read only inside our own transaction, where no other
 * process writes: it answers from the cache.
 */
export function storeViews(name: string, sql: Statements<keyof typeof STORE_SQL>, cache: WriteCache) {
  const lastOf = (sessionId: string): Last => {
    const row = sql.head.get(sessionId);
    if (row === undefined) return { ...EMPTY_CHAIN, at: Number.NEGATIVE_INFINITY };
    return { seq: Number(row['seq']), hash: String(row['hash']), at: Number(row['at']) };
  };
  const view: StoreView = {
    name,
    isGone,
    leaseOf: (sessionId) => (sql.lease.get(sessionId) as LeaseRow | undefined) ?? null,
    headOf: (sessionId) => {
      const { seq, hash } = lastOf(sessionId);
      return { seq, hash };
    },
    find: (id) => {
      const row = sql.byId.get(id);
      return row === undefined ? null : readStored(name, row as unknown as StoredBytes);
    },
    has: (id) => sql.hasId.get(id) !== undefined,
    hasEphemeral: (id) => sql.hasEphemeral.get(id) !== undefined,
  };
  const ours: StoreView = {
    ...view,
    leaseOf: (sessionId) => cache.lease(sessionId, view.leaseOf),
    headOf: (sessionId) => cache.head(sessionId, lastOf),
    has: (id) => cache.knows(id) || view.has(id),
  };
  return { view, ours, lastOf };
}
