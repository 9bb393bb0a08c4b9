import type { Database, Statement } from './node-sqlite.ts';

export type Statements<Name extends string> = { readonly [name in Name]: Statement };

/** Statements by name, each prepared at first use: a process that writes one entry needs few of them. */
export function statementsOf<Name extends string>(
  db: Database,
  sql: { readonly [name in Name]: string },
): Statements<Name> {
  const statements = {} as { [name in Name]: Statement };
  for (const name of Object.keys(sql) as Name[])
    Object.defineProperty(statements, name, {
      configurable: true,
      get() {
        const value = db.prepare(sql[name]);
        Object.defineProperty(statements, name, { value });
        return value;
      },
    });
  return statements;
}

const BYTES = 'head, body, prev, hash';

export const STORE_SQL = {
  byId: `SELECT ${BYTES} FROM entries WHERE id = ?`,
  hasId: 'SELECT 1 FROM entries WHERE id = ?',
  truncate: 'PRAGMA wal_checkpoint(TRUNCATE)',
  hasEphemeral: 'SELECT 1 FROM ephemeral WHERE id = ?',
  ephemeral: 'SELECT head, body FROM ephemeral WHERE id = ?',
  head: 'SELECT seq, hash, at FROM entries WHERE session_id = ? ORDER BY seq DESC LIMIT 1',
  last: `SELECT ${BYTES} FROM entries WHERE session_id = ? ORDER BY seq DESC LIMIT 1`,
  page: `SELECT seq, ${BYTES} FROM entries WHERE session_id = ? AND seq >= ? ORDER BY seq LIMIT ?`,
  openings: `SELECT ${BYTES}, agent, pin, closed, name, archived FROM sessions JOIN entries ON nth = opening ORDER BY at DESC, nth DESC`,
  label: 'UPDATE sessions SET name = iif(?2, ?3, name), archived = coalesce(?4, archived) WHERE session_id = ?1',
  lease: 'SELECT holder, until, ttl FROM leases WHERE session_id = ?',
  putLease: 'INSERT OR REPLACE INTO leases (session_id, holder, until, ttl, digest) VALUES (?, ?, ?, ?, ?)',
  dropSessionWaits: "DELETE FROM waits WHERE waiter = 'session:' || ?",
  dropLease: 'DELETE FROM leases WHERE session_id = ? AND holder = ?',
  fold: 'SELECT seq, hash, text, digest FROM folds WHERE session_id = ?',
  erased: 'SELECT 1 FROM entries WHERE session_id = ? AND body IS NULL LIMIT 1',
  keepFold: 'INSERT OR REPLACE INTO folds (session_id, seq, hash, text, digest) VALUES (?, ?, ?, ?, ?)',
  blob: 'SELECT bytes FROM blobs WHERE hash = ?',
  addBlob:
    'INSERT INTO blobs (hash, bytes, put_at) VALUES (?, ?, ?) ON CONFLICT (hash) DO UPDATE SET put_at = excluded.put_at',
  addNote: 'INSERT INTO notes (at, code, session_id, message) VALUES (?, ?, ?, ?)',
  notes: 'SELECT at, code, session_id AS sessionId, message FROM notes ORDER BY rowid DESC LIMIT ?',
};
