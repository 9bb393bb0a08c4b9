import { hash as digest } from 'node:crypto';
import { assertArgument, checkedClock, hasMethods } from '../base/assert-argument.ts';
import { getOrInsert } from '../base/get-or-insert.ts';
import { isObject, textOf } from '../base/json.ts';
import { isLeaseHolderGone } from '../base/process-holder.ts';
import type { Clock } from '../ports/clock.ts';
import type { EvidenceStore, StoreError } from '../ports/evidence-store.ts';
import type { MessageStore } from '../ports/message-store.ts';
import {
  judgeAppend,
  judgeEphemeralAppend,
  judgeLease,
  readStoredEntry,
  rowsAfterRefusal,
  type StoreFacts,
  sealAppendDrafts,
  sealEphemeralDrafts,
} from './rules/append-rules.ts';
import { parseOlderThan, resolveStoreQuery, toQueryPage } from './rules/query-rules.ts';
import { readReplyChain } from './rules/reply-chain.ts';
import { GroupCommit } from './sqlite/group-commit.ts';
import { StoreCheck } from './sqlite/integrity/store-check.ts';
import { openBlobTables } from './sqlite/sqlite-blobs.ts';
import { connectToSqlite } from './sqlite/sqlite-connection.ts';
import { openEntryTables } from './sqlite/sqlite-entries.ts';
import { createBodyEraser } from './sqlite/sqlite-erasure.ts';
import { SQLITE_STORE_NAME, sqliteError } from './sqlite/sqlite-error.ts';
import { openFoldTable } from './sqlite/sqlite-folds.ts';
import { openLeaseTable } from './sqlite/sqlite-leases.ts';
import { sqliteMessages } from './sqlite/sqlite-messages.ts';
import { openNoteTable } from './sqlite/sqlite-notes.ts';
import { findMatchingEntries } from './sqlite/sqlite-query.ts';
import { IN_MEMORY_FILE } from './sqlite/sqlite-schema.ts';
import { openSessionTable } from './sqlite/sqlite-sessions.ts';
import { prepareStatementsOnce } from './sqlite/statements.ts';
import { keyFileOfUser, StoreKey } from './sqlite/store-key.ts';
import { StoreWriteCache } from './sqlite/write-cache.ts';

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

/**
 * Evidence store in one SQLite file (WAL, synchronous FULL): acknowledged entries survive a crash and a power cut.
 * Several processes may open the same file; a session's lease allows one of them to write it. All waiting appends of a
 * process share one transaction.
 * @throws StoreError `store-failed` if the file cannot be opened: another program's, a newer schema's, no permission.
 * @throws TypeError for a wrong argument
 * @example
 * const store = sqliteStore('/home/me/.local/state/hopgate/evidence.db');
 */
export function sqliteStore(file: string, options: SqliteStoreOptions = {}): EvidenceStore {
  assertArgument(typeof file === 'string' && file !== '', 'sqliteStore: file', 'the path of a file', file);
  assertArgument(isObject(options), 'options of the store', 'an object', options);
  const { clock: given = Date, busyMs = 5000, readOnly = false, checkpointPages, onCommit, keyFile } = options;
  assertArgument(hasMethods(given, 'now'), 'clock of the store', 'an object with the method now', given);
  const clock = checkedClock(given);
  const inMemory = file === IN_MEMORY_FILE;
  const connection = connectToSqlite(file, busyMs, readOnly, checkpointPages);
  const { db } = connection;
  const key = new StoreKey(inMemory ? null : (keyFile ?? keyFileOfUser()));
  const cache = new StoreWriteCache(db);
  const entries = openEntryTables(db, cache);
  const leases = openLeaseTable(db, key, cache);
  const folds = openFoldTable(db, key);
  const sessions = openSessionTable(db);
  const blobs = openBlobTables(db, file);
  const notes = openNoteTable(db);
  const eraseBodies = createBodyEraser(db);
  const prepare = prepareStatementsOnce(db);
  /**
   * Reads from the cache. Valid only inside a write transaction of this connection, because other processes cannot
   * write during the transaction.
   */
  const facts: StoreFacts = {
    name: SQLITE_STORE_NAME,
    isGone: isLeaseHolderGone,
    leaseOf: (sessionId) => getOrInsert(cache.leases, sessionId, () => leases.get(sessionId)),
    headOf: (sessionId) => getOrInsert(cache.heads, sessionId, () => entries.last(sessionId)),
    find: entries.find,
    has: (id) => cache.ids.has(id) || entries.has(id),
    hasEphemeral: entries.hasEphemeral,
  };
  const writer = new GroupCommit(db, busyMs, {
    file,
    onBegin: () => cache.refresh(),
    onRollback: () => cache.clear(),
    ...(onCommit && { onCommit }),
    ...(inMemory ? { schedule: queueMicrotask } : {}),
  });
  let closing: Promise<void> | null = null;
  let messages: MessageStore | null = null;

  const assertOpen = (): void => {
    if (closing !== null) throw sqliteError('store-failed', `${file} is closed; open the store again`);
  };
  const read = <T>(work: () => T): T => {
    assertOpen();
    return connection.read(work);
  };
  const write = async <T>(sessionId: string | null, work: (now: number) => T, durable = true): Promise<T> => {
    assertOpen();
    const noteRefusal = (error: StoreError): void => {
      const held = sessionId === null ? null : leases.get(sessionId);
      const refusal = rowsAfterRefusal(error, sessionId, held, clock.now());
      if (refusal !== null) notes.add(refusal.note);
      if (refusal?.lease && sessionId !== null) leases.put(sessionId, refusal.lease);
    };
    return writer.run(() => work(clock.now()), noteRefusal, durable);
  };
  /** Leases concern only processes since the last boot, so they need not survive a power cut. */
  const writeLease = <T>(sessionId: string, work: (now: number) => T): Promise<T> => write(sessionId, work, false);
  /**
   * Also removes erased data from the write-ahead log. While another process reads, the data stays in the log until the
   * next checkpoint.
   */
  const truncateLog = (): void => {
    if (closing === null) connection.waitForLock(() => db.exec('PRAGMA wal_checkpoint(TRUNCATE)'));
  };

  return {
    name: SQLITE_STORE_NAME,

    get failed() {
      return writer.failed;
    },

    get messages() {
      messages ??= sqliteMessages(db, (work) => write(null, work), read);
      return messages;
    },

    acquire: async (sessionId, holder, ttl) => {
      assertArgument(textOf(sessionId) !== null, 'acquire: sessionId', 'the id of a session', sessionId);
      assertArgument(textOf(holder) !== null, 'acquire: holder', 'the name of the writer', holder);
      return writeLease(sessionId, (now) => {
        const { lease, note } = judgeLease(facts, now, sessionId, holder, ttl);
        leases.put(sessionId, lease);
        if (note !== null) {
          notes.add(note);
          leases.endWaits(sessionId);
        }
        return { sessionId, holder, until: lease.until };
      });
    },

    release: ({ sessionId, holder }, fold) =>
      writeLease(sessionId, () => {
        if (leases.remove(sessionId, holder) && fold !== undefined) folds.put(sessionId, fold);
      }),

    keepFold: ({ sessionId, holder }, fold) =>
      writeLease(sessionId, () => {
        if (leases.get(sessionId)?.holder === holder) folds.put(sessionId, fold);
      }),

    keptFold: async (sessionId) => read(() => folds.get(sessionId)),

    async append(lease, after, drafts) {
      assertOpen();
      const { drafts: complete, sealed } = sealAppendDrafts(SQLITE_STORE_NAME, lease, after, drafts, clock.now());
      return write(lease.sessionId, (now) => {
        const accepted = judgeAppend(facts, now, lease, after, complete, sealed);
        for (const stored of accepted.fresh) entries.add(stored);
        if (accepted.lease !== null) leases.put(lease.sessionId, accepted.lease);
        return accepted.stored;
      });
    },

    async appendEphemeral(sessionId, drafts) {
      assertOpen();
      const sealed = sealEphemeralDrafts(SQLITE_STORE_NAME, sessionId, drafts, clock.now());
      return write(sessionId, () => {
        for (const entry of judgeEphemeralAppend(facts, sealed)) entries.addEphemeral(entry);
        return sealed;
      });
    },

    head: async (sessionId) =>
      read(() => {
        const { seq, hash } = entries.last(sessionId);
        return { seq, hash };
      }),

    async *entries(sessionId, { from = 0 } = {}) {
      // The first pages are small, because many callers read only the first entry.
      for (let [next, limit] = [from, 1]; ; limit *= 16) {
        const page = read(() => entries.page(sessionId, next, limit));
        for (const row of page) yield readStoredEntry(SQLITE_STORE_NAME, row);
        if (page.length === 0) return;
        next = page.at(-1)!.seq + 1;
      }
    },

    get: async (id) => read(() => entries.find(id)),

    async query(query) {
      const checked = resolveStoreQuery(SQLITE_STORE_NAME, query);
      return read(() => toQueryPage(SQLITE_STORE_NAME, checked, findMatchingEntries(prepare, checked)));
    },

    replyChain: async (id) =>
      read(() => readReplyChain(SQLITE_STORE_NAME, id, (each) => entries.find(each) ?? entries.findEphemeral(each))),

    sessions: async () => read(() => sessions.list(clock.now())),

    label: (sessionId, label) => write(null, () => sessions.label(sessionId, label)),

    async putBlob(bytes) {
      assertArgument(bytes instanceof Uint8Array, 'putBlob: bytes', 'a Uint8Array', bytes);
      const hash = digest('sha256', bytes);
      const copy = new Uint8Array(bytes);
      await write(null, (now) => blobs.put(hash, copy, now));
      return hash;
    },

    getBlob: async (hash) => read(() => blobs.get(hash)),

    blobReferences: async (hash) => read(() => blobs.references(hash)),

    async collectBlobs({ olderThan }) {
      const before = parseOlderThan(SQLITE_STORE_NAME, olderThan);
      const collected = await write(null, () => blobs.collect(before));
      truncateLog();
      return { collected };
    },

    async erase(what) {
      const erased = await write(null, (now) => eraseBodies(what, now));
      if ('sessionId' in what) await this.messages?.eraseTexts(`session:${what.sessionId}`);
      truncateLog();
      return { erased };
    },

    problems: async () => read(() => new StoreCheck(db).run(key, clock.now())),

    note: (note) => write(null, () => notes.add(note)),

    notes: async ({ limit = -1 } = {}) => read(() => notes.newest(limit)),

    close() {
      closing ??= writer.drained().then(connection.close);
      return closing;
    },
  };
}
