import type { SessionLabel, SessionSummary } from '../../ports/evidence-store.ts';
import type { Database } from './node-sqlite.ts';
import { sqliteError } from './sqlite-error.ts';
import { prepareAtFirstUse } from './statements.ts';

/** Limits a time to JavaScript's dates: an altered time must not hide the other sessions. */
const asTime = (column: string): string => `max(-8640000000000000, min(${column}, 8640000000000000))`;

const SQL = {
  // Parses no bytes of entries, so that an altered entry hides no session.
  list: `SELECT sessions.session_id AS sessionId, agent, pin, closed = 1 AS closed, name, archived = 1 AS archived, ${asTime('first.at')} AS openedAt,
      first.body IS NULL AS erased, ${asTime('last.at')} AS lastAt, min(last.seq, 1 << 52) AS seq, last.hash AS hash,
      holder, ${asTime('until')} AS until
    FROM sessions
      JOIN entries AS first ON first.session_id = sessions.session_id
        AND first.seq = (SELECT min(seq) FROM entries WHERE session_id = sessions.session_id)
      JOIN entries AS last ON last.session_id = sessions.session_id
        AND last.seq = (SELECT max(seq) FROM entries WHERE session_id = sessions.session_id)
      LEFT JOIN leases ON leases.session_id = sessions.session_id AND until > ?
    ORDER BY first.at DESC, first.nth DESC`,
  label: 'UPDATE sessions SET name = iif(?, ?, name), archived = coalesce(?, archived) WHERE session_id = ?',
};

type Time = 'openedAt' | 'lastAt';
type Flag = 'closed' | 'erased' | 'archived';
type Row = Omit<SessionSummary, Time | Flag | 'head' | 'entries' | 'lease'> &
  SessionSummary['head'] & { readonly [field in Time | Flag | 'until']: number } & { readonly holder: string | null };

/** The table of sessions: facts of their first entries, and their labels. */
export function openSessionTable(db: Database) {
  const sql = prepareAtFirstUse(db, SQL);
  return {
    /** Lists the sessions, the newest first. */
    list: (now: number): readonly SessionSummary[] =>
      (sql.list.all(now) as unknown as Row[]).map(({ seq, hash, holder, until, ...row }) => ({
        ...row,
        openedAt: new Date(row.openedAt).toISOString(),
        lastAt: new Date(row.lastAt).toISOString(),
        entries: seq + 1,
        head: { seq, hash },
        closed: row.closed === 1,
        lease: holder === null ? null : { holder, until },
        erased: row.erased === 1,
        archived: row.archived === 1,
      })),

    label(sessionId: string, { name, archived }: SessionLabel): void {
      const mark = archived === undefined ? null : Number(archived);
      const { changes } = sql.label.run(Number(name !== undefined), name ?? null, mark, sessionId);
      if (changes === 0) throw sqliteError('session-not-found', `there is no session ${sessionId}`);
    },
  };
}
