import { getOrInsert } from '../base/get-or-insert.ts';
import { parseStored, type StoredBytes } from '../evidence/chain.ts';
import type { Subject } from '../evidence/entry.ts';
import { byNewest, type EphemeralEntry, type FoundEntry, type ResolvedQuery } from '../evidence/evidence-query.ts';
import { subjectKey, wantedFacets } from './facets.ts';
import type { Database, Statement } from './node-sqlite.ts';
import type { Placed } from './rules/query-rules.ts';
import type { STORE_SQL, Statements } from './statements.ts';

type Value = string | number | null;

/** One sorted statement: newest first, at most limit + 1 rows. */
export interface Reading {
  readonly sql: string;
  readonly values: readonly Value[];
  readonly ephemeral: boolean;
}

/**
 * Returns the SQL statements of a query. Each walks one index in order, so SQLite never sorts; the caller merges the
 * results. (Exception: a session whose entries are not in order of time is sorted.)
 */
export function readingsOf(db: StatementCache, query: ResolvedQuery): readonly Reading[] {
  const { sessionId, subject, patternId, ephemeral } = query;
  const durable =
    sessionId !== undefined
      ? [ofSession(db, query, sessionId)]
      : patternId !== undefined
        ? [along('entries_pattern', query)]
        : subject === undefined
          ? [along('entries_at', query)]
          : [
              durableReading('entries_subject', query, [['subject = ?', subjectKey(subject, null)]]),
              ...(subject.type === 'session' ? [ofSession(db, query, subject.id, 'subject IS NULL')] : []),
            ];
  return ephemeral === true ? [...durable, ofEphemeral(query)] : durable;
}

type Condition = readonly [string, ...Value[]];

const along = (index: string, query: ResolvedQuery): Reading => durableReading(index, query, subjectConditions(query));

const durableReading = (index: string, query: ResolvedQuery, conditions: readonly Condition[]): Reading =>
  reading(
    `SELECT nth, at, head, body, prev, hash FROM entries INDEXED BY ${index}`,
    [...conditions, ...timeConditions(query, false), ...filters(query)],
    'at DESC, nth DESC',
    query,
    false,
  );

/**
 * Reads one session, newest first: by `seq` if its entries are in order of time, else by time, which needs another
 * index.
 */
function ofSession(db: StatementCache, query: ResolvedQuery, sessionId: string, subject?: string): Reading {
  const conditions: Condition[] = [
    ['session_id = ?', sessionId],
    ...(subject === undefined ? subjectConditions(query) : [[subject] as Condition]),
  ];
  const isLate = db.get('SELECT 1 FROM entries INDEXED BY entries_late WHERE session_id = ? AND late = 1', sessionId);
  if (isLate !== undefined) return durableReading('entries_session', query, conditions);
  const { after } = query;
  const ended =
    after === null || after.ephemeral
      ? undefined
      : db.get('SELECT seq FROM entries WHERE nth = ? AND session_id = ?', after.nth, sessionId);
  return reading(
    'SELECT nth, at, head, body, prev, hash FROM entries INDEXED BY entries_session',
    [
      ...conditions,
      ...(ended === undefined ? [] : [['seq < ?', Number(ended['seq'])] as Condition]),
      ...timeConditions(query, false),
      ...filters(query),
    ],
    'seq DESC',
    query,
    false,
  );
}

function ofEphemeral(query: ResolvedQuery): Reading {
  const { sessionId } = query;
  const index = sessionId === undefined ? 'ephemeral_at' : 'ephemeral_session';
  return reading(
    `SELECT nth, at, head, body FROM ephemeral INDEXED BY ${index}`,
    [
      ...(sessionId === undefined ? [] : [['session_id = ?', sessionId] as Condition]),
      ...subjectConditions(query),
      ...timeConditions(query, true),
      ...filters(query),
    ],
    'at DESC, nth DESC',
    query,
    true,
  );
}

function reading(
  from: string,
  conditions: readonly Condition[],
  order: string,
  { limit }: ResolvedQuery,
  ephemeral: boolean,
): Reading {
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.map(([sql]) => sql).join(' AND ')}`;
  const values = conditions.flatMap(([, ...given]) => given);
  return { sql: `${from}${where} ORDER BY ${order} LIMIT ?`, values: [...values, limit + 1], ephemeral };
}

/** An entry about its own session stores no subject. */
function subjectConditions({ subject }: ResolvedQuery): Condition[] {
  if (subject === undefined) return [];
  const key = subjectKey(subject as Subject, null);
  return subject.type === 'session'
    ? [['(subject = ? OR (subject IS NULL AND session_id = ?))', key, subject.id]]
    : [['subject = ?', key]];
}

function filters(query: ResolvedQuery): Condition[] {
  return [
    ...(query.patternId === undefined ? [] : [['pattern_id = ?', query.patternId] as Condition]),
    ...wantedFacets(query).map((facet) => ['instr(facets, ?) > 0', facet] as Condition),
  ];
}

/** If two entries have the same time, the ephemeral one comes first. */
function timeConditions({ since, before, after }: ResolvedQuery, ephemeral: boolean): Condition[] {
  return [
    ...(since === null ? [] : [['at >= ?', since] as Condition]),
    ...(before === null ? [] : [['at < ?', before] as Condition]),
    ...(after === null
      ? []
      : after.ephemeral === ephemeral
        ? [['(at, nth) < (?, ?)', after.at, after.nth] as Condition]
        : [[after.ephemeral ? 'at <= ?' : 'at < ?', after.at] as Condition]),
  ];
}

/** Merges all statements, newest first. */
export function readAll(db: StatementCache, readings: readonly Reading[]): readonly Placed[] {
  return readings
    .flatMap(({ sql, values, ephemeral }) =>
      db.all(sql, ...values).map((row) => ({
        place: { at: Number(row['at']), ephemeral, nth: Number(row['nth']) },
        found: ephemeral ? readEphemeral(row) : parseStored(row as unknown as StoredBytes),
      })),
    )
    .sort((a, b) => byNewest(a.place, b.place));
}

export function readEphemeral(row: { readonly [column: string]: unknown }): FoundEntry {
  const body = String(row['body']);
  const entry: EphemeralEntry = { ...JSON.parse(String(row['head'])), body: JSON.parse(body), ephemeral: true };
  return { entry, head: null, body };
}

const PAGE_ENTRIES = 256;
const PAGE_CHARACTERS = 1 << 20;

/**
 * Reads a whole page at once, so that no cursor stays open while the caller works. Large bodies shorten the page.
 *
 * @param most the maximum number of entries; never more than 256
 */
export function pageFrom(
  sql: Pick<Statements<keyof typeof STORE_SQL>, 'page'>,
  sessionId: string,
  from: number,
  most: number,
) {
  const page = [];
  let characters = 0;
  for (const row of sql.page.iterate(sessionId, from, Math.min(most, PAGE_ENTRIES))) {
    page.push(row);
    characters += String(row['head']).length + String(row['body'] ?? '').length;
    if (characters >= PAGE_CHARACTERS) break;
  }
  return page;
}

/** StatementCache by their text, prepared once. */
export class StatementCache {
  readonly #db: Database;
  readonly #prepared = new Map<string, Statement>();
  constructor(db: Database) {
    this.#db = db;
  }
  #of(sql: string): Statement {
    return getOrInsert(this.#prepared, sql, () => this.#db.prepare(sql));
  }
  all(sql: string, ...values: Value[]) {
    return this.#of(sql).all(...values);
  }
  get(sql: string, ...values: Value[]) {
    return this.#of(sql).get(...values);
  }
  run(sql: string, ...values: Value[]) {
    return this.#of(sql).run(...values);
  }
}
