import { statSync } from 'node:fs';
import { assertArgument, checkedClock, hasMethods } from '../../base/assert-argument.ts';
import { getOrInsert } from '../../base/get-or-insert.ts';
import { isObject } from '../../base/json.ts';
import { isLeaseHolderGone } from '../../base/process-holder.ts';
import type { Clock } from '../../ports/clock.ts';
import type { StoreError } from '../../ports/evidence-store.ts';
import { rowsAfterRefusal, type StoreFacts } from '../rules/append-rules.ts';
import { GroupCommit } from './group-commit.ts';
import type { Database } from './node-sqlite.ts';
import { openBlobTables } from './sqlite-blobs.ts';
import { connectToSqlite } from './sqlite-connection.ts';
import { openEntryTables } from './sqlite-entries.ts';
import { createBodyEraser } from './sqlite-erasure.ts';
import { SQLITE_STORE_NAME, sqliteError } from './sqlite-error.ts';
import { openFoldTable } from './sqlite-folds.ts';
import { openLeaseTable } from './sqlite-leases.ts';
import { openNoteTable } from './sqlite-notes.ts';
import { IN_MEMORY_FILE } from './sqlite-schema.ts';
import { openSessionTable } from './sqlite-sessions.ts';
import { keyFileOfUser, StoreKey } from './store-key.ts';
import { StoreWriteCache } from './write-cache.ts';

export interface SqliteStoreOptions {
  readonly clock?: Clock;
  /** The time in milliseconds that a write waits for another process's lock. Default 5000. */
  readonly busyMs?: number;
  /**
   * The number of pages of the write-ahead log after which it is checkpointed. Default: SQLite's 1000. The first
   * process that opens the file reads the whole log, so short-lived processes should keep it small.
   */
  readonly checkpointPages?: number;
  /** True to read the file without writing to it or its folder; every write then fails. Default: false. */
  readonly readOnly?: boolean;
  /**
   * The file of the key that signs folds and leases; it must not be in the database's folder. Default: one key per
   * user, `$XDG_STATE_HOME/hopgate/kept-states.key`. Without a key, sessions are folded from their first entry.
   */
  readonly keyFile?: string;
  /** Called after each transaction with the number of writes that became durable. */
  readonly onCommit?: (writes: number) => void;
}

export type SqliteParts = ReturnType<typeof openSqliteParts>;

/** Opens the parts of a store: its tables, and the two ways to use them, {@link SqliteParts.read} and `write`. */
export function openSqliteParts(file: string, options: SqliteStoreOptions) {
  assertArgument(typeof file === 'string' && file !== '', 'sqliteStore: file', 'the path of a file', file);
  assertArgument(isObject(options), 'options of the store', 'an object', options);
  const { clock: given = Date, busyMs = 5000, readOnly = false, checkpointPages, onCommit, keyFile } = options;
  assertArgument(hasMethods(given, 'now'), 'clock of the store', 'an object with the method now', given);
  const clock = checkedClock(given);
  const inMemory = file === IN_MEMORY_FILE;
  const connection = connectToSqlite(file, busyMs, readOnly, checkpointPages);
  const { db } = connection;
  const inode = inodeOf(file);
  const key = new StoreKey(inMemory ? null : (keyFile ?? keyFileOfUser()));
  const cache = new StoreWriteCache(db);
  const tables = openTables(db, file, key, cache);
  const writer = new GroupCommit(db, busyMs, {
    file,
    onBegin: () => {
      if (!inMemory && inodeOf(file) !== inode) throw new Error('it was removed or replaced while it was open');
      cache.refresh();
    },
    onRollback: () => cache.clear(),
    ...(onCommit && { onCommit }),
    ...(inMemory ? { schedule: queueMicrotask } : {}),
  });
  let closing: Promise<void> | null = null;

  const assertOpen = (): void => {
    if (closing !== null) throw sqliteError('store-failed', `${file} is closed; open the store again`);
  };
  return {
    db,
    key,
    clock,
    tables,
    facts: factsOf(tables, cache),
    assertOpen,
    get failed() {
      return writer.failed;
    },
    read<T>(work: () => T): T {
      assertOpen();
      return connection.read(work);
    },
    async write<T>(sessionId: string | null, work: (now: number) => T, durable = true): Promise<T> {
      assertOpen();
      const noteRefusal = (error: StoreError) => recordRefusal(tables, error, sessionId, clock.now());
      return writer.run(() => work(clock.now()), noteRefusal, durable);
    },
    /**
     * Also removes erased data from the write-ahead log. While another process reads, the data stays in the log until
     * the next checkpoint.
     */
    truncateLog(): void {
      if (closing === null) connection.waitForLock(() => db.exec('PRAGMA wal_checkpoint(TRUNCATE)'));
    },
    close(): Promise<void> {
      closing ??= writer.drained().then(connection.close);
      return closing;
    },
  };
}

const inodeOf = (file: string): number | undefined => statSync(file, { throwIfNoEntry: false })?.ino;

const openTables = (db: Database, file: string, key: StoreKey, cache: StoreWriteCache) => ({
  entries: openEntryTables(db, cache),
  leases: openLeaseTable(db, key, cache),
  folds: openFoldTable(db, key),
  sessions: openSessionTable(db),
  blobs: openBlobTables(db, file),
  notes: openNoteTable(db),
  eraseBodies: createBodyEraser(db),
});

type Tables = ReturnType<typeof openTables>;

/**
 * Reads from the cache. Valid only inside a write transaction of this connection, because other processes cannot write
 * during the transaction.
 */
const factsOf = ({ entries, leases }: Tables, cache: StoreWriteCache): StoreFacts => ({
  name: SQLITE_STORE_NAME,
  isGone: isLeaseHolderGone,
  leaseOf: (sessionId) => getOrInsert(cache.leases, sessionId, () => leases.get(sessionId)),
  headOf: (sessionId) => getOrInsert(cache.heads, sessionId, () => entries.last(sessionId)),
  find: entries.find,
  has: (id) => cache.ids.has(id) || entries.has(id),
  hasEphemeral: entries.hasEphemeral,
});

/** Writes the rows that a refused write leaves: a note for the operator, and a lease that ended too late. */
function recordRefusal({ leases, notes }: Tables, error: StoreError, sessionId: string | null, now: number): void {
  const held = sessionId === null ? null : leases.get(sessionId);
  const refusal = rowsAfterRefusal(error, sessionId, held, now);
  if (refusal !== null) notes.add(refusal.note);
  if (refusal?.lease && sessionId !== null) leases.put(sessionId, refusal.lease);
}
