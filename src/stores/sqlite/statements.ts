import { getOrInsert } from '../../base/get-or-insert.ts';
import type { Database, Statement } from './node-sqlite.ts';

export type SqliteRow = { readonly [column: string]: unknown };

export type NamedStatements<Name extends string> = { readonly [name in Name]: Statement };

/** Statements by name. Each is prepared at its first use: a process that writes one entry needs few of them. */
export function prepareAtFirstUse<Name extends string>(
  db: Database,
  sql: { readonly [name in Name]: string },
): NamedStatements<Name> {
  const statements = {} as { [name in Name]: Statement };
  for (const name of Object.keys(sql) as Name[])
    Object.defineProperty(statements, name, {
      configurable: true,
      get() {
        const value = db.prepare(sql[name]);
        Object.defineProperty(statements, name, { value });
        return value;
      },
    });
  return statements;
}

export type PrepareStatementOnce = (sql: string) => Statement;

/** Returns a function that prepares each SQL text at its first use and then returns the same statement. */
export function prepareStatementsOnce(db: Database): PrepareStatementOnce {
  const prepared = new Map<string, Statement>();
  return (sql) => getOrInsert(prepared, sql, () => db.prepare(sql));
}

export const ENTRY_BYTE_COLUMNS = 'head, body, prev, hash';
