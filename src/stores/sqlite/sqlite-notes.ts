import type { OperatorNote } from '../../ports/evidence-store.ts';
import type { Database } from './node-sqlite.ts';
import { prepareAtFirstUse } from './statements.ts';

const SQL = {
  add: 'INSERT INTO notes (at, code, session_id, message) VALUES (?, ?, ?, ?)',
  newest: 'SELECT at, code, session_id AS sessionId, message FROM notes ORDER BY rowid DESC LIMIT ?',
};

export function openNoteTable(db: Database) {
  const sql = prepareAtFirstUse(db, SQL);
  return {
    add: ({ at, code, sessionId, message }: OperatorNote): void => void sql.add.run(at, code, sessionId, message),
    newest: (limit: number): readonly OperatorNote[] =>
      sql.newest.all(Number.isFinite(limit) ? limit : -1).map((row) => ({ ...row }) as unknown as OperatorNote),
  };
}
