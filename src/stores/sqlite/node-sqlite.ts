import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { memoise } from '../../base/lazy.ts';
import { valueOr } from '../../base/value-or.ts';

type Sqlite = typeof import('node:sqlite');
export type Database = InstanceType<Sqlite['DatabaseSync']>;
export type Statement = ReturnType<Database['prepare']>;

/** Loads `node:sqlite` without Node 22's warning that it is experimental. */
export const loadNodeSqlite = memoise((): Sqlite => {
  const emitWarning = process.emitWarning;
  process.emitWarning = ((warning: string | Error, ...rest: unknown[]) => {
    if (String(warning).startsWith('SQLite is an experimental feature')) return;
    Reflect.apply(emitWarning, process, [warning, ...rest]);
  }) as typeof process.emitWarning;
  try {
    return process.getBuiltinModule('node:sqlite');
  } finally {
    process.emitWarning = emitWarning;
  }
});

const CORRUPT = 11;
/**
 * SQLite's code of an error; null for other errors. A number that JavaScript cannot represent counts as damage, because
 * hopgate stores none.
 */
export function sqliteResultCode(error: unknown): number | null {
  if (error instanceof RangeError && (error as NodeJS.ErrnoException).code === 'ERR_OUT_OF_RANGE') return CORRUPT;
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return null;
  return error.errcode & 0xff;
}

const BUSY = [5, 6];
/** True for the error that another process holds the lock; then nothing was written. */
export const isLockError = (error: unknown): boolean => BUSY.includes(sqliteResultCode(error) ?? -1);

const CANTOPEN = 14;
export const isCannotOpenError = (error: unknown): boolean => sqliteResultCode(error) === CANTOPEN;

// SQLite's codes NOMEM, READONLY, IOERR, CORRUPT, FULL, CANTOPEN, PROTOCOL and NOTADB.
const BROKEN = [7, 8, 10, CORRUPT, 13, 14, 15, 26];
/** True for an error of the disk or the file, false for an error of the statement. */
export const isDiskError = (error: unknown): boolean => BROKEN.includes(sqliteResultCode(error) ?? -1);

/** The free space that a new store needs, with its write-ahead log and shared memory. */
const MIN_FREE_BYTES = 1 << 18;

/** True if the disk of a store has no space left for its shared memory. */
export function isDiskFull(file: string): boolean {
  const disk = valueOr(() => statfsSync(dirname(file)), null);
  return disk !== null && disk.bavail * disk.bsize < MIN_FREE_BYTES;
}

/** True for an error of a full disk, which SQLite may also report as an I/O error of its shared memory. */
export const isDiskFullError = (file: string, error: unknown): boolean =>
  (isDiskError(error) || (error as NodeJS.ErrnoException).code === 'ENOSPC') && isDiskFull(file);

/** The reason why a file cannot be used, for a message. */
export const sqliteReason = (file: string, error: unknown): string =>
  isDiskFullError(file, error) ? 'no space is left on its disk; free some, then try again' : (error as Error).message;

/**
 * Turns on write-ahead logging, except for a database in memory. SQLite needs an exclusive lock for it and does not
 * wait for the lock, so this tries again for `busyMs` milliseconds.
 */
export function switchToWriteAheadLog(db: Database, busyMs: number): void {
  for (const deadline = Date.now() + busyMs; ; ) {
    try {
      const mode = db.prepare('PRAGMA journal_mode = WAL').get()?.['journal_mode'];
      if (mode === 'wal' || mode === 'memory') return;
      throw new Error(
        `the file system does not support write-ahead logging (journal mode ${mode}); put it on a local disk`,
      );
    } catch (error) {
      if (!isLockError(error) || Date.now() > deadline) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}
