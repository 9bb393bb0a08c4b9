import type { LeaseRow } from '../rules/append-rules.ts';
import type { Database } from './node-sqlite.ts';
import { prepareAtFirstUse } from './statements.ts';
import type { StoreKey } from './store-key.ts';
import type { StoreWriteCache } from './write-cache.ts';

const SQL = {
  select: 'SELECT holder, until, ttl FROM leases WHERE session_id = ?',
  put: 'INSERT OR REPLACE INTO leases (session_id, holder, until, ttl, digest) VALUES (?, ?, ?, ?, ?)',
  remove: 'DELETE FROM leases WHERE session_id = ? AND holder = ?',
  endWaits: "DELETE FROM waits WHERE waiter = 'session:' || ?",
};

/** The table of leases. Each row is signed, so that `doctor` finds a lease that another account wrote. */
export function openLeaseTable(db: Database, key: StoreKey, cache: StoreWriteCache) {
  const sql = prepareAtFirstUse(db, SQL);
  return {
    get: (sessionId: string): LeaseRow | null => (sql.select.get(sessionId) as LeaseRow | undefined) ?? null,

    put(sessionId: string, lease: LeaseRow): void {
      cache.leases.delete(sessionId);
      const { holder, until, ttl } = lease;
      sql.put.run(sessionId, holder, until, ttl, key.signLease(sessionId, lease, true) ?? '');
    },

    /** Removes a lease. Returns false if the holder does not have it. */
    remove(sessionId: string, holder: string): boolean {
      cache.leases.delete(sessionId);
      return sql.remove.run(sessionId, holder).changes > 0;
    },

    /** Ends the waits for an answer that an earlier writer of the session began. */
    endWaits: (sessionId: string): void => void sql.endWaits.run(sessionId),
  };
}
