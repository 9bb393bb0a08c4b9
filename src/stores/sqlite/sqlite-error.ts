import { storeError } from '../rules/append-rules.ts';

export const STORE_NAME = 'sqlite';

/** Returns a StoreError of the SQLite store: code, message and cause. */
export const sqliteError = storeError.bind(null, STORE_NAME);
