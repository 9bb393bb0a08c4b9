import { getOrInsert } from '../../base/get-or-insert.ts';
import { mapValues } from '../../base/map-values.ts';
import type { Database, Statement } from './node-sqlite.ts';

export type SqliteRow = { readonly [column: string]: unknown };

export type NamedStatements<Name extends string> = { readonly [name in Name]: Statement };

/** Statements by name. Each is prepared at its first use: a process that writes one entry needs few of them. */
export function prepareAtFirstUse<Name extends string>(
  db: Database,
  sql: { readonly [name in Name]: string },
): NamedStatements<Name> {
  const prepare = prepareStatementsOnce(db);
  const getters = mapValues<string, PropertyDescriptor>(sql, (text) => ({ get: () => prepare(text) }));
  return Object.defineProperties({}, getters) as NamedStatements<Name>;
}

export type PrepareStatementOnce = (sql: string) => Statement;

/** Returns a function that prepares each SQL text at its first use and then returns the same statement. */
export function prepareStatementsOnce(db: Database): PrepareStatementOnce {
  const prepared = new Map<string, Statement>();
  return (sql) => getOrInsert(prepared, sql, () => db.prepare(sql));
}

export const ENTRY_BYTE_COLUMNS = 'head, body, prev, hash';
