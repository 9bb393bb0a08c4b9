import { isLockError } from './node-sqlite.ts';
import { withSqliteErrors } from './sqlite-error.ts';
import { openDatabase, openReadOnly } from './sqlite-schema.ts';

/**
 * Opens the file of a store. A statement that meets another process's lock fails at once, so that this process can do
 * other work meanwhile; `waitForLock` and `read` wait.
 * @throws StoreError `store-failed` if the file cannot be opened.
 */
export function connectToSqlite(file: string, busyMs: number, readOnly: boolean, checkpointPages?: number) {
  const opened = readOnly ? openReadOnly(file, busyMs) : openDatabase(file, busyMs);
  const db = 'db' in opened ? opened.db : opened;
  db.exec('PRAGMA busy_timeout = 0');
  if (checkpointPages !== undefined) db.exec(`PRAGMA wal_autocheckpoint = ${Math.trunc(checkpointPages)}`);
  /** Lets the statements in `work` wait for another process's lock. */
  const waitForLock = <T>(work: () => T): T => {
    db.exec(`PRAGMA busy_timeout = ${Math.trunc(busyMs)}`);
    try {
      return work();
    } finally {
      db.exec('PRAGMA busy_timeout = 0');
    }
  };
  const readPatiently = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      if (isLockError(error)) return waitForLock(work);
      throw error;
    }
  };
  /** Runs `work`; if it meets a lock, waits and runs it again. Throws StoreError `store-failed` if SQLite fails. */
  const read = <T>(work: () => T): T => withSqliteErrors('read', file, () => readPatiently(work));
  return { db, close: () => opened.close(), waitForLock, read };
}
