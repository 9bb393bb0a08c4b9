import type { StoredBytes } from '../../evidence/chain.ts';
import type { SessionLabel, SessionSummary } from '../../ports/evidence-store.ts';
import { type LeaseRow, readStoredEntry } from '../rules/append-rules.ts';
import { summariseSession } from '../rules/session-summary.ts';
import type { Database } from './node-sqlite.ts';
import { SQLITE_STORE_NAME, sqliteError } from './sqlite-error.ts';
import { ENTRY_BYTE_COLUMNS, prepareAtFirstUse } from './statements.ts';

const SQL = {
  list: `SELECT ${ENTRY_BYTE_COLUMNS}, agent, pin, closed, name, archived FROM sessions JOIN entries ON nth = opening ORDER BY at DESC, nth DESC`,
  last: `SELECT ${ENTRY_BYTE_COLUMNS} FROM entries WHERE session_id = ? ORDER BY seq DESC LIMIT 1`,
  label: 'UPDATE sessions SET name = iif(?, ?, name), archived = coalesce(?, archived) WHERE session_id = ?',
};

const entryOf = (row: unknown) => readStoredEntry(SQLITE_STORE_NAME, row as StoredBytes).entry;

/** The table of sessions: facts of their first entries, and their labels. */
export function openSessionTable(db: Database, leaseOf: (sessionId: string) => LeaseRow | null) {
  const sql = prepareAtFirstUse(db, SQL);
  return {
    /** Lists the sessions, the newest first. */
    list: (now: number): readonly SessionSummary[] =>
      sql.list.all().map((row) => {
        const first = entryOf(row);
        const name = row['name'] === null ? null : String(row['name']);
        const facts = { agent: String(row['agent']), pin: String(row['pin']), name, archived: row['archived'] === 1 };
        const last = entryOf(sql.last.get(first.sessionId));
        return summariseSession(facts, first, last, row['closed'] === 1, leaseOf(first.sessionId), now);
      }),

    label(sessionId: string, { name, archived }: SessionLabel): void {
      const mark = archived === undefined ? null : Number(archived);
      const { changes } = sql.label.run(Number(name !== undefined), name ?? null, mark, sessionId);
      if (changes === 0) throw sqliteError('session-not-found', `there is no session ${sessionId}`);
    },
  };
}
