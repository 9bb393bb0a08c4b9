import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';

type Sqlite = typeof import('node:sqlite');
export type Database = InstanceType<Sqlite['DatabaseSync']>;
export type Statement = ReturnType<Database['prepare']>;

let sqlite: Sqlite | undefined;

/** Loads `node:sqlite`. Suppresses only Node 22's warning that it is experimental. */
export function nodeSqlite(): Sqlite {
  if (sqlite !== undefined) return sqlite;
  const emitWarning = process.emitWarning;
  process.emitWarning = ((warning: string | Error, ...rest: unknown[]) => {
    if (String(warning).startsWith('SQLite is an experimental feature')) return;
    Reflect.apply(emitWarning, process, [warning, ...rest]);
  }) as typeof process.emitWarning;
  try {
    sqlite = process.getBuiltinModule('node:sqlite');
    return sqlite;
  } finally {
    process.emitWarning = emitWarning;
  }
}

export function resultCode(error: unknown): number | null {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return null;
  return error.errcode & 0xff;
}

const BUSY = [5, 6];
/** True if another process holds the lock; nothing was written. */
export const isBusy = (error: unknown): boolean => BUSY.includes(resultCode(error) ?? -1);

const CANTOPEN = 14;
/** True if SQLite cannot open the file, its write-ahead log or its shared memory. */
export const cannotOpen = (error: unknown): boolean => resultCode(error) === CANTOPEN;

// NOMEM, READONLY, IOERR, CORRUPT, FULL, CANTOPEN, PROTOCOL, NOTADB
const BROKEN = [7, 8, 10, 11, 13, 14, 15, 26];
/** True for a fault of the disk or the file, not of the statement. */
export const isBroken = (error: unknown): boolean => BROKEN.includes(resultCode(error) ?? -1);

/** The bytes that a new store needs, with its write-ahead log and shared memory. */
const MIN_FREE_BYTES = 1 << 18;

/** True if the error comes from a full disk, which SQLite may also report as an I/O error of its shared memory. */
export function isFull(file: string, error: unknown): boolean {
  if (!isBroken(error) && (error as NodeJS.ErrnoException).code !== 'ENOSPC') return false;
  try {
    const { bavail, bsize } = statfsSync(dirname(file));
    return bavail * bsize < MIN_FREE_BYTES;
  } catch {
    return false;
  }
}

/**
 * Turns on write-ahead logging, except for a database in memory. It needs an exclusive lock and ignores the busy
 * timeout, so this tries again for `busyMs` milliseconds.
 */
export function switchToWal(db: Database, busyMs: number): void {
  for (const deadline = Date.now() + busyMs; ; ) {
    try {
      const mode = db.prepare('PRAGMA journal_mode = WAL').get()?.['journal_mode'];
      if (mode === 'wal' || mode === 'memory') return;
      throw new Error(
        `the file system does not support write-ahead logging (journal mode ${mode}); put it on a local disk`,
      );
    } catch (error) {
      if (!isBusy(error) || Date.now() > deadline) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}
