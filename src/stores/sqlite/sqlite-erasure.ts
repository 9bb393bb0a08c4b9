import type { ErasureTarget } from '../../ports/evidence-store.ts';
import { entryNotFoundError, sessionBusyError } from '../rules/reply-chain.ts';
import type { Database } from './node-sqlite.ts';
import { SQLITE_STORE_NAME, sqliteError } from './sqlite-error.ts';
import { prepareAtFirstUse } from './statements.ts';

const SQL = {
  entry: 'SELECT nth, id, session_id FROM entries WHERE id = ?',
  entries: 'SELECT nth, id, session_id FROM entries WHERE session_id = ?',
  lease: 'SELECT holder, until FROM leases WHERE session_id = ? AND until > ?',
  removeFold: 'DELETE FROM folds WHERE session_id = ?',
  eraseBody: 'UPDATE entries SET body = NULL WHERE nth = ? AND body IS NOT NULL',
  removeReferences: 'DELETE FROM blob_references WHERE id = ?',
  removeEphemeralReferences: 'DELETE FROM blob_references WHERE id IN (SELECT id FROM ephemeral WHERE session_id = ?)',
  // An ephemeral entry has no hash that its body must match, so the text `null` replaces the body.
  eraseEphemeral: "UPDATE ephemeral SET body = 'null' WHERE session_id = ? AND body <> 'null'",
};

/**
 * Returns a function that erases the bodies of entries, their references to blobs, and the stored session states that
 * contain them.
 */
export function createBodyEraser(db: Database): (what: ErasureTarget, now: number) => number {
  const sql = prepareAtFirstUse(db, SQL);
  const rowsOf = (what: ErasureTarget) => {
    if ('sessionId' in what) {
      const rows = sql.entries.all(what.sessionId);
      if (rows.length === 0) throw sqliteError('session-not-found', `there is no session ${what.sessionId}`);
      return rows;
    }
    return what.ids.map((id) => {
      const row = sql.entry.get(id);
      if (row === undefined) throw entryNotFoundError(SQLITE_STORE_NAME, id);
      return row;
    });
  };
  return (what, now) => {
    const rows = rowsOf(what);
    const sessions = new Set(rows.map((row) => String(row['session_id'])));
    for (const sessionId of sessions) {
      const lease = sql.lease.get(sessionId, now);
      if (lease !== undefined)
        throw sessionBusyError(SQLITE_STORE_NAME, sessionId, {
          holder: String(lease['holder']),
          until: Number(lease['until']),
        });
    }
    for (const sessionId of sessions) sql.removeFold.run(sessionId);
    let erased = 0;
    for (const { nth, id } of rows) {
      erased += Number(sql.eraseBody.run(Number(nth)).changes);
      sql.removeReferences.run(String(id));
    }
    if ('ids' in what) return erased;
    sql.removeEphemeralReferences.run(what.sessionId);
    return erased + Number(sql.eraseEphemeral.run(what.sessionId).changes);
  };
}
