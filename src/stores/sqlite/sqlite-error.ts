import { storeError } from '../rules/append-rules.ts';
import { sqliteReason, sqliteResultCode } from './node-sqlite.ts';

export const SQLITE_STORE_NAME = 'sqlite';

/** Returns a StoreError of the SQLite store: code, message and cause. */
export const sqliteError = storeError.bind(null, SQLITE_STORE_NAME);

/** Runs `work`, which reads or uses a database file. @throws StoreError `store-failed` if SQLite fails */
export function withSqliteErrors<T>(doing: 'read' | 'use', file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (sqliteResultCode(error) === null) throw error;
    throw sqliteError('store-failed', `cannot ${doing} ${file}: ${sqliteReason(file, error)}`, error);
  }
}
