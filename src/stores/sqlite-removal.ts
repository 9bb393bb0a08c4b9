import type { BlobReferences, Erasure } from '../ports/evidence-store.ts';
import { notFound, writtenBy } from './reply-chain.ts';
import { storeError } from './rules/append-rules.ts';
import type { StatementCache } from './sqlite-query.ts';

export function blobReferences(db: StatementCache, hash: string): BlobReferences {
  const texts = (sql: string): string[] => db.all(sql, hash).map(({ name }) => String(name));
  return {
    entries: texts('SELECT id AS name FROM blob_references WHERE hash = ? ORDER BY id'),
    sessions: texts('SELECT session_id AS name FROM sessions WHERE pin = ? ORDER BY session_id'),
  };
}

/** Removes unreferenced blobs that were last put before a time. */
export function collectBlobs(db: StatementCache, before: number): number {
  const { changes } = db.run(
    `DELETE FROM blobs WHERE put_at < ?
       AND NOT EXISTS (SELECT 1 FROM blob_references AS r WHERE r.hash = blobs.hash)
       AND NOT EXISTS (SELECT 1 FROM sessions WHERE pin = blobs.hash)`,
    before,
  );
  return Number(changes);
}

/** Erases the bodies of a session or of single entries, and their index columns. */
export function eraseBodies(store: string, db: StatementCache, what: Erasure, now: number): number {
  const rows =
    'ids' in what
      ? what.ids.map((id) => {
          const row = db.get('SELECT nth, id, session_id FROM entries WHERE id = ?', id);
          if (row === undefined) throw notFound(store, id);
          return row;
        })
      : db.all('SELECT nth, id, session_id FROM entries WHERE session_id = ?', what.sessionId);
  if ('sessionId' in what && rows.length === 0)
    throw storeError(store, 'session-not-found', `there is no session ${what.sessionId}`);
  const sessions = new Set(rows.map((row) => String(row['session_id'])));
  for (const sessionId of sessions) assertFree(store, db, sessionId, now);
  for (const sessionId of sessions) db.run('DELETE FROM folds WHERE session_id = ?', sessionId);
  let erased = 0;
  for (const { nth, id } of rows) {
    const { changes } = db.run('UPDATE entries SET body = NULL WHERE nth = ? AND body IS NOT NULL', Number(nth));
    db.run('DELETE FROM blob_references WHERE id = ?', String(id));
    erased += Number(changes);
  }
  if ('sessionId' in what) erased += eraseEphemeral(db, what.sessionId);
  return erased;
}

/** Sets the body of an ephemeral entry to null; it has no hash that must keep matching. */
function eraseEphemeral(db: StatementCache, sessionId: string): number {
  db.run('DELETE FROM blob_references WHERE id IN (SELECT id FROM ephemeral WHERE session_id = ?)', sessionId);
  const { changes } = db.run("UPDATE ephemeral SET body = 'null' WHERE session_id = ? AND body <> 'null'", sessionId);
  return Number(changes);
}

function assertFree(store: string, db: StatementCache, sessionId: string, now: number): void {
  const held = db.get('SELECT holder, until FROM leases WHERE session_id = ? AND until > ?', sessionId, now);
  if (held !== undefined)
    throw writtenBy(store, sessionId, { holder: String(held['holder']), until: Number(held['until']) });
}
