import { isBusy } from './node-sqlite.ts';
import { storeError } from './rules/append-rules.ts';
import { openDatabase, openReadOnly } from './sqlite-schema.ts';

interface ConnectOptions {
  readonly busyMs: number;
  readonly readOnly: boolean;
  readonly checkpointPages: number | undefined;
}

/**
 * Opens the file of a store. A statement that meets another process's lock fails at once, so that the process can do
 * other work meanwhile, except in `patiently` and `read`.
 *
 * @throws StoreError `store-failed` if the file cannot be opened.
 */
export function connect(name: string, file: string, { busyMs, readOnly, checkpointPages }: ConnectOptions) {
  const open = readOnly ? openReadOnly : openDatabase;
  const opened = open(name, file, busyMs);
  const db = 'db' in opened ? opened.db : opened;
  db.exec('PRAGMA busy_timeout = 0');
  if (checkpointPages !== undefined) db.exec(`PRAGMA wal_autocheckpoint = ${Math.trunc(checkpointPages)}`);
  /** Lets SQLite wait for another process's lock during `work`. */
  const patiently = <T>(work: () => T): T => {
    db.exec(`PRAGMA busy_timeout = ${Math.trunc(busyMs)}`);
    try {
      return work();
    } finally {
      db.exec('PRAGMA busy_timeout = 0');
    }
  };
  const untilFree = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      if (isBusy(error)) return patiently(work);
      throw error;
    }
  };
  /** Runs `work`, once more and patiently if it met a lock. Throws StoreError `store-failed` if SQLite fails. */
  const read = <T>(work: () => T): T => {
    try {
      return untilFree(work);
    } catch (error) {
      if (!(error instanceof Error && 'errcode' in error)) throw error;
      throw storeError(name, 'store-failed', `cannot read ${file}: ${error.message}`, error);
    }
  };
  return { db, close: () => opened.close(), patiently, read };
}
