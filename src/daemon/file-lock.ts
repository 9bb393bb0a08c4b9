import { closeSync, existsSync, openSync } from 'node:fs';
import { isLockError, loadNodeSqlite } from '../stores/sqlite/node-sqlite.ts';

/** Interval of attempts for a lock that another process holds, in milliseconds. */
const RETRY_MS = 5;

const queues = new Map<string, Promise<unknown>>();

/**
 * Runs `work` under an exclusive lock between callers of this and other processes. The lock is SQLite's lock of an
 * empty database, so the kernel frees it when its holder dies.
 * @param deadline epoch milliseconds; throws an Error if the lock is not free by then
 */
export function withFileLock<T>(lockFile: string, deadline: number, work: () => Promise<T>): Promise<T> {
  const before = queues.get(lockFile) ?? Promise.resolve();
  const run = before.then(() => runLocked(lockFile, deadline, work));
  const settled = run.then(
    () => {},
    () => {},
  );
  queues.set(lockFile, settled);
  void settled.then(() => {
    if (queues.get(lockFile) === settled) queues.delete(lockFile);
  });
  return run;
}

async function runLocked<T>(lockFile: string, deadline: number, work: () => Promise<T>): Promise<T> {
  for (;;) {
    const lock = tryLockFile(lockFile);
    try {
      if (lock) return await work();
    } finally {
      lock?.close();
    }
    if (Date.now() >= deadline) throw new Error(`another process holds ${lockFile}`);
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

/** Takes a lock until it is closed; null if another holder has it. */
export function tryLockFile(lockFile: string): { close(): void } | null {
  const { DatabaseSync } = loadNodeSqlite();
  if (!existsSync(lockFile)) closeSync(openSync(lockFile, 'a', 0o600));
  const db = new DatabaseSync(lockFile);
  try {
    // Nothing is ever written, so no journal file is needed.
    db.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN IMMEDIATE');
    return db;
  } catch (error) {
    db.close();
    if (isLockError(error)) return null;
    throw error;
  }
}
