import { getOrInsert } from '../../base/get-or-insert.ts';
import type { StoredBytes } from '../../evidence/chain.ts';
import { EMPTY_CHAIN, type StoredEntry } from '../../evidence/entry.ts';
import type { EphemeralEntry, FoundEntry } from '../../evidence/evidence-query.ts';
import { findBlobIds } from '../../evidence/find-blob-ids.ts';
import type { Json } from '../../spec/types.ts';
import { readStoredEntry } from '../rules/append-rules.ts';
import { eventOfBody, sessionFactsOfEntry } from '../rules/session-summary.ts';
import { facetsOfEntry, subjectIndexKey } from './facets.ts';
import type { Database } from './node-sqlite.ts';
import { SQLITE_STORE_NAME } from './sqlite-error.ts';
import { ENTRY_BYTE_COLUMNS, prepareAtFirstUse, type SqliteRow } from './statements.ts';
import type { LastEntryOfSession, StoreWriteCache } from './write-cache.ts';

const SQL = {
  add: `INSERT INTO entries (id, session_id, seq, at, late, facets, subject, pattern_id, fork_of, prev, hash, head, body)
    SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? WHERE NOT EXISTS (SELECT 1 FROM ephemeral WHERE id = ?)`,
  addEphemeral: `INSERT INTO ephemeral (id, session_id, at, facets, subject, pattern_id, in_reply_to, fork_of, head, body)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  addReference: 'INSERT OR IGNORE INTO blob_references (id, hash) VALUES (?, ?)',
  openSession: 'INSERT INTO sessions (session_id, opening, agent, pin, closed) VALUES (?, ?, ?, ?, 0)',
  closeSession: 'UPDATE sessions SET closed = 1 WHERE session_id = ?',
  byId: `SELECT ${ENTRY_BYTE_COLUMNS} FROM entries WHERE id = ?`,
  hasId: 'SELECT 1 FROM entries WHERE id = ?',
  ephemeral: 'SELECT head, body FROM ephemeral WHERE id = ?',
  hasEphemeral: 'SELECT 1 FROM ephemeral WHERE id = ?',
  last: 'SELECT seq, hash, at FROM entries WHERE session_id = ? ORDER BY seq DESC LIMIT 1',
  page: `SELECT seq, ${ENTRY_BYTE_COLUMNS} FROM entries WHERE session_id = ? AND seq >= ? ORDER BY seq LIMIT ?`,
};

const MAX_PAGE_ENTRIES = 256;
const MAX_PAGE_CHARACTERS = 1 << 20;

/** The tables of durable and of ephemeral entries, with their indexes and their references to blobs. */
export function openEntryTables(db: Database, cache: StoreWriteCache) {
  const sql = prepareAtFirstUse(db, SQL);
  const addReferences = (id: string, body: Json): void => {
    for (const hash of findBlobIds(body)) sql.addReference.run(id, hash);
  };
  const last = (sessionId: string): LastEntryOfSession => {
    const row = sql.last.get(sessionId);
    if (row === undefined) return { ...EMPTY_CHAIN, at: Number.NEGATIVE_INFINITY };
    return { seq: Number(row['seq']), hash: String(row['hash']), at: Number(row['at']) };
  };
  return {
    /** Adds an entry. Throws if its id exists. */
    add({ entry, head, body }: StoredEntry): void {
      const { id, sessionId, seq, subject, patternId, forkOf, prev, hash } = entry;
      const at = Date.parse(entry.at);
      const { changes, lastInsertRowid } = sql.add.run(
        id,
        sessionId,
        seq,
        at,
        at < getOrInsert(cache.heads, sessionId, () => last(sessionId)).at ? 1 : null,
        facetsOfEntry(entry),
        subjectIndexKey(subject, sessionId),
        patternId ?? null,
        forkOf ?? null,
        prev,
        hash,
        head,
        body,
        id,
      );
      if (changes === 0) throw new Error(`an ephemeral entry has the id ${id}`);
      if (seq === 0) {
        const { agent, pin } = sessionFactsOfEntry(entry);
        sql.openSession.run(sessionId, lastInsertRowid, agent, pin);
      }
      if (body !== null) {
        if (eventOfBody(entry.body) === 'session-closed') sql.closeSession.run(sessionId);
        addReferences(id, entry.body);
      }
      cache.heads.set(sessionId, { seq, hash, at });
      cache.ids.add(id);
    },

    addEphemeral(entry: EphemeralEntry): void {
      const { body, ephemeral: _, ...head } = entry;
      const { id, sessionId, at, subject, patternId, inReplyTo, forkOf } = entry;
      const bytes = JSON.stringify(body);
      sql.addEphemeral.run(
        id,
        sessionId,
        Date.parse(at),
        facetsOfEntry(entry),
        subjectIndexKey(subject, sessionId),
        patternId ?? null,
        inReplyTo ?? null,
        forkOf ?? null,
        JSON.stringify(head),
        bytes,
      );
      addReferences(id, body);
    },

    last,

    find(id: string): StoredEntry | null {
      const row = sql.byId.get(id);
      return row === undefined ? null : readStoredEntry(SQLITE_STORE_NAME, row as unknown as StoredBytes);
    },

    has: (id: string): boolean => sql.hasId.get(id) !== undefined,

    findEphemeral(id: string): FoundEntry | null {
      const row = sql.ephemeral.get(id);
      return row === undefined ? null : parseEphemeralRow(row);
    },

    hasEphemeral: (id: string): boolean => sql.hasEphemeral.get(id) !== undefined,

    /**
     * Reads a page of a session's entries at once, so that no cursor stays open while the caller works. Large bodies
     * shorten the page.
     * @param limit the maximum number of entries; never more than 256
     */
    page(sessionId: string, from: number, limit: number) {
      const page: (StoredBytes & { readonly seq: number })[] = [];
      let characters = 0;
      for (const row of sql.page.iterate(sessionId, from, Math.min(limit, MAX_PAGE_ENTRIES))) {
        page.push(row as never);
        characters += String(row['head']).length + String(row['body'] ?? '').length;
        if (characters >= MAX_PAGE_CHARACTERS) break;
      }
      return page;
    },
  };
}

export function parseEphemeralRow(row: SqliteRow): FoundEntry {
  const body = String(row['body']);
  const entry: EphemeralEntry = { ...JSON.parse(String(row['head'])), body: JSON.parse(body), ephemeral: true };
  return { entry, head: null, body };
}
