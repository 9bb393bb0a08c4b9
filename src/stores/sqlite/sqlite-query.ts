import { valueOr } from '../../base/value-or.ts';
import type { StoredBytes } from '../../evidence/chain.ts';
import type { Subject } from '../../evidence/entry.ts';
import {
  compareByNewest,
  type FoundEntry,
  type PositionedEntry,
  type ValidatedQuery,
} from '../../evidence/evidence-query.ts';
import { readStoredEntry } from '../rules/append-rules.ts';
import { facetsOfQuery, subjectIndexKey } from './facets.ts';
import { parseEphemeralRow } from './sqlite-entries.ts';
import { SQLITE_STORE_NAME } from './sqlite-error.ts';
import { ENTRY_BYTE_COLUMNS, type PrepareStatementOnce, type SqliteRow } from './statements.ts';

type Value = string | number | null;

/** A statement with sorted results: newest first, at most limit + 1 rows. */
interface QueryStatement {
  readonly sql: string;
  readonly values: readonly Value[];
  readonly ephemeral: boolean;
}

/** The entries that match a query, newest first; from each table at most one more than the query's limit. */
export const findMatchingEntries = (
  prepare: PrepareStatementOnce,
  query: ValidatedQuery,
): readonly PositionedEntry<FoundEntry | null>[] =>
  statementsOfQuery(prepare, query)
    .flatMap(({ sql, values, ephemeral }) =>
      prepare(sql)
        .all(...values)
        .map((row) => ({
          position: { at: Number(row['at']), ephemeral, nth: Number(row['nth']) },
          found: query.skipUnreadable ? valueOr(() => readRow(row, ephemeral), null) : readRow(row, ephemeral),
        })),
    )
    .sort((a, b) => compareByNewest(a.position, b.position));

const readRow = (row: SqliteRow, ephemeral: boolean): FoundEntry =>
  ephemeral ? parseEphemeralRow(row) : readStoredEntry(SQLITE_STORE_NAME, row as unknown as StoredBytes);

/**
 * Returns the SQL statements of a query. Each walks one index in order, so SQLite never sorts; the caller merges the
 * results. (Exception: a session whose entries are not in order of time is sorted.)
 */
export function statementsOfQuery(prepare: PrepareStatementOnce, query: ValidatedQuery): readonly QueryStatement[] {
  const { sessionId, subject, patternId, ephemeral } = query;
  const durable =
    sessionId !== undefined
      ? [fromSession(prepare, query, sessionId)]
      : patternId !== undefined
        ? [fromIndex('entries_pattern', query)]
        : subject === undefined
          ? [fromIndex('entries_at', query)]
          : [
              fromIndex('entries_subject', query, [['subject = ?', subjectIndexKey(subject, null)]]),
              ...(subject.type === 'session' ? [fromSession(prepare, query, subject.id, [['subject IS NULL']])] : []),
            ];
  return ephemeral === true ? [...durable, fromEphemeral(query)] : durable;
}

type Condition = readonly [string, ...Value[]];

const fromIndex = (index: string, query: ValidatedQuery, conditions = subjectConditions(query)): QueryStatement =>
  statement(
    `SELECT nth, at, ${ENTRY_BYTE_COLUMNS} FROM entries INDEXED BY ${index}`,
    [...conditions, ...timeConditions(query, false), ...facetConditions(query)],
    'at DESC, nth DESC',
    query,
    false,
  );

/** Reads a session's entries, newest first: by `seq` if they are in order of time, else by time (another index). */
function fromSession(
  prepare: PrepareStatementOnce,
  query: ValidatedQuery,
  sessionId: string,
  onSubject = subjectConditions(query),
): QueryStatement {
  const conditions: Condition[] = [['session_id = ?', sessionId], ...onSubject];
  const late = prepare('SELECT 1 FROM entries INDEXED BY entries_late WHERE session_id = ? AND late = 1').get(
    sessionId,
  );
  if (late !== undefined) return fromIndex('entries_session', query, conditions);
  const { after } = query;
  const last =
    after === null || after.ephemeral
      ? undefined
      : prepare('SELECT seq FROM entries WHERE nth = ? AND session_id = ?').get(after.nth, sessionId);
  if (last !== undefined) conditions.push(['seq < ?', Number(last['seq'])]);
  return statement(
    `SELECT nth, at, ${ENTRY_BYTE_COLUMNS} FROM entries INDEXED BY entries_session`,
    [...conditions, ...timeConditions(query, false), ...facetConditions(query)],
    'seq DESC',
    query,
    false,
  );
}

function fromEphemeral(query: ValidatedQuery): QueryStatement {
  const { sessionId } = query;
  const conditions = [...subjectConditions(query), ...timeConditions(query, true), ...facetConditions(query)];
  if (sessionId !== undefined) conditions.unshift(['session_id = ?', sessionId]);
  const index = sessionId === undefined ? 'ephemeral_at' : 'ephemeral_session';
  const from = `SELECT nth, at, head, body FROM ephemeral INDEXED BY ${index}`;
  return statement(from, conditions, 'at DESC, nth DESC', query, true);
}

function statement(
  from: string,
  conditions: readonly Condition[],
  order: string,
  { limit }: ValidatedQuery,
  ephemeral: boolean,
): QueryStatement {
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.map(([sql]) => sql).join(' AND ')}`;
  const values = conditions.flatMap(([, ...bound]) => bound);
  return { sql: `${from}${where} ORDER BY ${order} LIMIT ?`, values: [...values, limit + 1], ephemeral };
}

/** An entry about its own session has NULL as its subject. */
function subjectConditions({ subject }: ValidatedQuery): Condition[] {
  if (subject === undefined) return [];
  const key = subjectIndexKey(subject as Subject, null);
  return subject.type === 'session'
    ? [['(subject = ? OR (subject IS NULL AND session_id = ?))', key, subject.id]]
    : [['subject = ?', key]];
}

function facetConditions(query: ValidatedQuery): Condition[] {
  const conditions = facetsOfQuery(query).map((facet): Condition => ['instr(facets, ?) > 0', facet]);
  return query.patternId === undefined ? conditions : [['pattern_id = ?', query.patternId], ...conditions];
}

/** If two entries have the same time, the ephemeral entry comes first. */
function timeConditions({ since, before, after }: ValidatedQuery, ephemeral: boolean): Condition[] {
  const conditions: Condition[] = [];
  if (since !== null) conditions.push(['at >= ?', since]);
  if (before !== null) conditions.push(['at < ?', before]);
  if (after?.ephemeral === ephemeral) conditions.push(['(at, nth) < (?, ?)', after.at, after.nth]);
  else if (after !== null) conditions.push([after.ephemeral ? 'at <= ?' : 'at < ?', after.at]);
  return conditions;
}
