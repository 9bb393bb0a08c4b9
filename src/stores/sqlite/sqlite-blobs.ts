import { hash as digest } from 'node:crypto';
import type { BlobReferences } from '../../ports/evidence-store.ts';
import type { Database } from './node-sqlite.ts';
import { sqliteError } from './sqlite-error.ts';
import { prepareAtFirstUse, type SqliteRow } from './statements.ts';

const SQL = {
  select: 'SELECT bytes FROM blobs WHERE hash = ?',
  put: 'INSERT INTO blobs (hash, bytes, put_at) VALUES (?, ?, ?) ON CONFLICT (hash) DO UPDATE SET put_at = excluded.put_at',
  entries: 'SELECT id AS name FROM blob_references WHERE hash = ? ORDER BY id',
  sessions: 'SELECT session_id AS name FROM sessions WHERE pin = ? ORDER BY session_id',
  collect: `DELETE FROM blobs WHERE put_at < ?
    AND NOT EXISTS (SELECT 1 FROM blob_references AS r WHERE r.hash = blobs.hash)
    AND NOT EXISTS (SELECT 1 FROM sessions WHERE pin = blobs.hash)`,
};

export function openBlobTables(db: Database, file: string) {
  const sql = prepareAtFirstUse(db, SQL);
  const names = (rows: readonly SqliteRow[]) => rows.map(({ name }) => String(name));
  return {
    put: (hash: string, bytes: Uint8Array, now: number): void => void sql.put.run(hash, bytes, now),

    get(hash: string): Uint8Array | null {
      const bytes = sql.select.get(hash)?.['bytes'] as Uint8Array | undefined;
      if (bytes === undefined) return null;
      if (digest('sha256', bytes) === hash) return bytes;
      throw sqliteError('store-failed', `blob ${hash} in ${file} was changed: its bytes have another hash`);
    },

    references: (hash: string): BlobReferences => ({
      entries: names(sql.entries.all(hash)),
      sessions: names(sql.sessions.all(hash)),
    }),

    /** Removes blobs that nothing refers to and that were last stored before a time. Returns their number. */
    collect: (before: number): number => Number(sql.collect.run(before).changes),
  };
}
