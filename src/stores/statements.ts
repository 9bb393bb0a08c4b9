import type { Database, Statement } from './node-sqlite.ts';

/** Statements by name, each prepared at first use: a process that writes one entry needs few of them. */
export function statementsOf<Name extends string>(
  db: Database,
  sql: { readonly [name in Name]: string },
): { readonly [name in Name]: Statement } {
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
