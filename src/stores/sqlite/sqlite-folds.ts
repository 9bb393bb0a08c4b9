import type { StoredFold } from '../../ports/evidence-store.ts';
import type { Database } from './node-sqlite.ts';
import { prepareAtFirstUse } from './statements.ts';
import type { StoreKey } from './store-key.ts';

const SQL = {
  select: 'SELECT seq, hash, text, digest FROM folds WHERE session_id = ?',
  put: 'INSERT OR REPLACE INTO folds (session_id, seq, hash, text, digest) VALUES (?, ?, ?, ?, ?)',
  erased: 'SELECT 1 FROM entries WHERE session_id = ? AND body IS NULL LIMIT 1',
};

/** The table of folds. Each row is signed: a fold that another account wrote is never used. */
export function openFoldTable(db: Database, key: StoreKey) {
  const sql = prepareAtFirstUse(db, SQL);
  return {
    /** Returns the fold of a session; null if there is none or its signature is wrong. */
    get(sessionId: string): StoredFold | null {
      const row = sql.select.get(sessionId);
      if (row === undefined) return null;
      const fold = { head: { seq: Number(row['seq']), hash: String(row['hash']) }, text: String(row['text']) };
      return key.signFold(sessionId, fold, false) === row['digest'] ? fold : null;
    },

    /** Stores a fold; not without a key, and not if a part of the session was erased, which the fold may repeat. */
    put(sessionId: string, fold: StoredFold): void {
      if (sql.erased.get(sessionId) !== undefined) return;
      const signature = key.signFold(sessionId, fold, true);
      if (signature !== null) sql.put.run(sessionId, fold.head.seq, fold.head.hash, fold.text, signature);
    },
  };
}
