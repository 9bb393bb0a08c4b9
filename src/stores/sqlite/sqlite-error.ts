import { storeError } from '../rules/append-rules.ts';

export const SQLITE_STORE_NAME = 'sqlite';

/** Returns a StoreError of the SQLite store: code, message and cause. */
export const sqliteError = storeError.bind(null, SQLITE_STORE_NAME);
