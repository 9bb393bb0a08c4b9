import type { StoredEntry } from '../evidence/entry.ts';
import type { EphemeralEntry } from '../evidence/evidence-query.ts';
import { blobsIn, mayHoldBlobs } from '../evidence/redaction.ts';
import type { Json } from '../spec/types.ts';
import { facetsOf, subjectKey } from './facets.ts';
import type { Database } from './node-sqlite.ts';
import { statementsOf } from './statements.ts';
import { eventOf, sessionFacts } from './summary.ts';

/**
 * Writes entries and their index columns. `at`: the entry's time, in epoch milliseconds; `late`: it is older than the
 * entry before it in its session. Throws if the id exists.
 */
export function entryWriter(db: Database): (stored: StoredEntry, at: number, late: boolean) => void {
  const sql = statementsOf(db, {
    add: `INSERT INTO entries (id, session_id, seq, at, late, facets, subject, pattern_id, fork_of, prev, hash, head, body)
     SELECT ?1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? WHERE NOT EXISTS (SELECT 1 FROM ephemeral WHERE id = ?1)`,
    open: 'INSERT INTO sessions (session_id, opening, agent, pin, closed) VALUES (?, ?, ?, ?, 0)',
    close: 'UPDATE sessions SET closed = 1 WHERE session_id = ?',
  });
  const refer = referrer(db);
  return ({ entry, head, body }, at, late) => {
    const { id, sessionId, seq, subject, patternId, forkOf, prev, hash } = entry;
    const { changes, lastInsertRowid } = sql.add.run(
      id,
      sessionId,
      seq,
      at,
      late ? 1 : null,
      facetsOf(entry),
      subjectKey(subject, sessionId),
      patternId ?? null,
      forkOf ?? null,
      prev,
      hash,
      head,
      body,
    );
    if (changes === 0) throw new Error(`an ephemeral entry has the id ${id}`);
    if (seq === 0) {
      const { agent, pin } = sessionFacts(entry);
      sql.open.run(sessionId, lastInsertRowid, agent, pin);
    }
    if (body === null) return;
    if (eventOf(entry.body) === 'session-closed') sql.close.run(sessionId);
    refer(id, body, entry.body);
  };
}

export function ephemeralWriter(db: Database): (entry: EphemeralEntry) => void {
  const sql = statementsOf(db, {
    add: `INSERT INTO ephemeral (id, session_id, at, facets, subject, pattern_id, in_reply_to, fork_of, head, body)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  });
  const refer = referrer(db);
  return (entry) => {
    const { body, ephemeral: _, ...head } = entry;
    const { id, sessionId, at, subject, patternId, inReplyTo, forkOf } = entry;
    const bytes = JSON.stringify(body);
    sql.add.run(
      id,
      sessionId,
      Date.parse(at),
      facetsOf(entry),
      subjectKey(subject, sessionId),
      patternId ?? null,
      inReplyTo ?? null,
      forkOf ?? null,
      JSON.stringify(head),
      bytes,
    );
    refer(id, bytes, body);
  };
}

function referrer(db: Database): (id: string, bytes: string, body: Json) => void {
  const sql = statementsOf(db, { refer: 'INSERT OR IGNORE INTO blob_references (id, hash) VALUES (?, ?)' });
  return (id, bytes, body) => {
    if (mayHoldBlobs(bytes)) for (const hash of blobsIn(body)) sql.refer.run(id, hash);
  };
}
