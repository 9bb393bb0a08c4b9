import { hash as digest } from 'node:crypto';
import type { StoredBytes } from '../evidence/chain.ts';
import type { StoredEntry } from '../evidence/entry.ts';
import type { FoundEntry } from '../evidence/evidence-query.ts';
import type { Clock } from '../ports/clock.ts';
import type { EvidenceStore, OperatorNote, StoredFold, StoreError } from '../ports/evidence-store.ts';
import type { MessageStore } from '../ports/message-store.ts';
import { DataVersion } from './data-version.ts';
import { entryWriter, ephemeralWriter } from './entry-writer.ts';
import { GroupCommit } from './group-commit.ts';
import { StoreCheck } from './integrity/store-check.ts';
import { sqliteMessages } from './messages/sqlite-messages.ts';
import { chainOf } from './reply-chain.ts';
import {
  isFromTheFuture,
  judgeAppend,
  judgeEphemeral,
  judgeLease,
  type LeaseRow,
  noteOf,
  readStored,
  seal,
  sealEphemeral,
  shortened,
  storeError,
  takeoverNote,
} from './rules/append-rules.ts';
import { answer, checkQuery, checkTime } from './rules/query-rules.ts';
import { connect } from './sqlite-connection.ts';
import { pageFrom, readAll, readEphemeral, readingsOf, StatementCache } from './sqlite-query.ts';
import { blobReferences, collectBlobs, eraseBodies } from './sqlite-removal.ts';
import { currentSchema, IN_MEMORY } from './sqlite-schema.ts';
import { storeViews } from './sqlite-view.ts';
import { STORE_SQL, statementsOf } from './statements.ts';
import { keyFileOfUser, StoreKey } from './store-key.ts';
import { summarise } from './summary.ts';
import { WriteCache } from './write-cache.ts';

export interface SqliteStoreOptions {
  readonly clock?: Clock;
  /** How long a write waits for another process's lock, in milliseconds. Default 5000. */
  readonly busyMs?: number;
  /**
   * Pages of the write-ahead log that trigger a checkpoint. The first process that opens the file reads the whole log,
   * so short-lived processes should keep it small. Default: SQLite's 1000.
   */
  readonly checkpointPages?: number;
  /** Read the file without writing to it or its folder; each write fails. Default: false. */
  readonly readOnly?: boolean;
  /**
   * The file of the key that authenticates stored states and leases; it must not be in the database's folder. Default:
   * one per user, `$XDG_STATE_HOME/hopgate/kept-states.key`. Without it sessions are folded from their first entry.
   */
  readonly keyFile?: string;
  /** Called after each transaction with the number of writes that became durable. */
  readonly onCommit?: (writes: number) => void;
}

const NAME = 'sqlite';

/**
 * Evidence store in one SQLite file (WAL, synchronous FULL): acknowledged entries survive a crash and a power cut.
 * Several processes may open the same file; a session's lease allows one of them to write it. All waiting appends of a
 * process share one transaction.
 *
 * @throws StoreError `store-failed` if the file cannot be opened: another program's, a newer schema's, no permission.
 * @example
 * const store = sqliteStore('/home/me/.local/state/hopgate/evidence.db');
 */
export function sqliteStore(file: string, options: SqliteStoreOptions = {}): EvidenceStore {
  const {
    clock = Date,
    busyMs = 5000,
    readOnly = false,
    checkpointPages,
    onCommit = () => {},
    keyFile = keyFileOfUser(),
  } = options;
  const { db, close, patiently, read: readPatiently } = connect(NAME, file, { busyMs, readOnly, checkpointPages });
  const sql = statementsOf(db, STORE_SQL);
  const addEntry = entryWriter(db);
  const addEphemeral = ephemeralWriter(db);
  const statements = new StatementCache(db);
  const version = new DataVersion(db);
  const cache = new WriteCache(version);
  const inMemory = file === IN_MEMORY;
  const key = new StoreKey(inMemory ? null : keyFile);
  const writer = new GroupCommit(NAME, db, busyMs, onCommit, {
    begun: () => cache.refresh(),
    committed: () => version.committed(),
    undone: () => cache.forget(),
    ...(inMemory ? { soon: queueMicrotask } : {}),
  });
  let closing: Promise<void> | null = null;

  const assertOpen = (): void => {
    if (closing !== null) throw storeError(NAME, 'store-failed', `${file} is closed; open the store again`);
  };
  const reading = <T>(work: () => T): T => {
    assertOpen();
    return readPatiently(work);
  };
  const read = (row: unknown): StoredEntry => readStored(NAME, row as StoredBytes);
  const { view, ours, lastOf } = storeViews(NAME, sql, cache);
  /** Also removes deleted data from the write-ahead log. If another process is reading, the next checkpoint does it. */
  const forget = (): void => {
    if (closing === null) patiently(() => sql.truncate.get());
  };
  const findAny = (id: string): FoundEntry | null => {
    const durable = view.find(id);
    if (durable !== null) return durable;
    const row = sql.ephemeral.get(id);
    return row === undefined ? null : readEphemeral(row);
  };
  const insertNote = ({ at, code, sessionId, message }: OperatorNote): void => {
    sql.addNote.run(at, code, sessionId, message);
  };
  const putLease = (sessionId: string, lease: LeaseRow): void => {
    cache.forgetLease(sessionId);
    const { holder, until, ttl } = lease;
    sql.putLease.run(sessionId, holder, until, ttl, key.codeOfLease(sessionId, lease, true) ?? '');
  };
  const write = async <T>(
    sessionId: string | null,
    work: (now: number, isSecond: boolean) => T,
    durable = true,
  ): Promise<T> => {
    assertOpen();
    const refused = (error: StoreError): void => {
      const note = noteOf(error, sessionId, clock.now());
      if (note !== null) insertNote(note);
      const held = note?.code === 'session-busy' && sessionId !== null ? view.leaseOf(sessionId) : null;
      if (held && sessionId !== null && isFromTheFuture(held, clock.now()))
        putLease(sessionId, shortened(held, clock.now()));
    };
    return writer.run((isSecond) => work(clock.now(), isSecond), refused, durable);
  };

  /** Leases concern only processes of this boot, so they need not survive a power cut. */
  const leasing = <T>(sessionId: string, work: (now: number) => T): Promise<T> => write(sessionId, work, false);

  const putFold = (sessionId: string, fold: StoredFold): void => {
    if (sql.erased.get(sessionId) !== undefined) return;
    const code = key.codeOf(sessionId, fold, true);
    if (code !== null) sql.keepFold.run(sessionId, fold.head.seq, fold.head.hash, fold.text, code);
  };

  let messages: MessageStore | null = null;

  return {
    name: NAME,

    get failed() {
      return writer.failed;
    },

    get messages() {
      messages ??= sqliteMessages(db, version, (work) => write(null, work), reading);
      return messages;
    },

    acquire: (sessionId, holder, ttl) =>
      leasing(sessionId, (now) => {
        const { lease, note } = judgeLease(ours, now, sessionId, holder, ttl);
        putLease(sessionId, lease);
        if (note !== null) {
          insertNote(takeoverNote(note, sessionId, now));
          sql.dropSessionWaits.run(sessionId);
        }
        return { sessionId, holder, until: lease.until };
      }),

    release: ({ sessionId, holder }, fold) =>
      leasing(sessionId, () => {
        cache.forgetLease(sessionId);
        const { changes } = sql.dropLease.run(sessionId, holder);
        if (fold !== undefined && changes > 0) putFold(sessionId, fold);
      }),

    keepFold: ({ sessionId, holder }, fold) =>
      leasing(sessionId, () => {
        if (view.leaseOf(sessionId)?.holder === holder) putFold(sessionId, fold);
      }),

    keptFold: async (sessionId) =>
      reading(() => {
        const row = sql.fold.get(sessionId);
        if (row === undefined) return null;
        const fold = { head: { seq: Number(row['seq']), hash: String(row['hash']) }, text: String(row['text']) };
        return key.codeOf(sessionId, fold, false) === row['digest'] ? fold : null;
      }),

    async append(lease, after, drafts) {
      assertOpen();
      const { drafts: complete, sealed } = seal(NAME, lease, after, drafts, clock.now());
      return write(lease.sessionId, (now, isSecond) => {
        // Ids are nearly always new. If one is not, the insert fails, and the second run searches for each.
        const granted = judgeAppend(ours, now, lease, after, complete, sealed, !isSecond);
        for (const stored of granted.fresh) {
          const { sessionId, id, seq, hash } = stored.entry;
          const at = Date.parse(stored.entry.at);
          addEntry(stored, at, at < cache.head(sessionId, lastOf).at);
          cache.move(sessionId, id, { seq, hash, at });
        }
        if (granted.lease !== null) putLease(lease.sessionId, granted.lease);
        return granted.stored;
      });
    },

    async appendEphemeral(sessionId, drafts) {
      assertOpen();
      const entries = sealEphemeral(NAME, sessionId, drafts, clock.now());
      return write(sessionId, () => {
        for (const entry of judgeEphemeral(ours, entries)) addEphemeral(entry);
        return entries;
      });
    },

    head: async (sessionId) => reading(() => view.headOf(sessionId)),

    async *entries(sessionId, { from = 0 } = {}) {
      // The first pages are small, because many callers need only the first entry.
      for (let [next, most] = [from, 1]; ; most *= 16) {
        const page = reading(() => pageFrom(sql, sessionId, next, most));
        for (const row of page) yield read(row);
        if (page.length === 0) return;
        next = Number(page.at(-1)!['seq']) + 1;
      }
    },

    get: async (id) => reading(() => view.find(id)),

    async query(asked) {
      const checked = checkQuery(NAME, asked);
      return reading(() => answer(NAME, checked, readAll(statements, readingsOf(statements, checked))));
    },

    replyChain: async (id) => reading(() => chainOf(NAME, id, findAny)),

    sessions: async () =>
      reading(() =>
        sql.openings.all().map((row) => {
          const { entry } = read(row);
          const { sessionId } = entry;
          const name = row['name'] === null ? null : String(row['name']);
          const archived = row['archived'] === 1;
          const facts = { agent: String(row['agent']), pin: String(row['pin']), name, archived };
          const last = read(sql.last.get(sessionId)).entry;
          return summarise(facts, entry, last, row['closed'] === 1, view.leaseOf(sessionId), clock.now());
        }),
      ),

    label: (sessionId, { name, archived }) =>
      write(null, () => {
        const mark = archived === undefined ? null : Number(archived);
        const { changes } = sql.label.run(sessionId, Number(name !== undefined), name ?? null, mark);
        if (changes === 0) throw storeError(NAME, 'session-not-found', `there is no session ${sessionId}`);
      }),

    async putBlob(bytes) {
      const hash = digest('sha256', bytes);
      const copy = new Uint8Array(bytes);
      await write(null, (now) => sql.addBlob.run(hash, copy, now));
      return hash;
    },

    getBlob: async (hash) =>
      reading(() => {
        const bytes = sql.blob.get(hash)?.['bytes'] as Uint8Array | undefined;
        if (bytes === undefined) return null;
        if (digest('sha256', bytes) === hash) return bytes;
        throw storeError(NAME, 'store-failed', `blob ${hash} in ${file} was changed: its bytes have another hash`);
      }),

    blobReferences: async (hash) => reading(() => blobReferences(statements, hash)),

    async collectBlobs({ olderThan }) {
      const before = checkTime(NAME, olderThan);
      const collected = await write(null, () => collectBlobs(statements, before));
      forget();
      return { collected };
    },

    async erase(what) {
      const erased = await write(null, (now) => eraseBodies(NAME, statements, what, now));
      if ('sessionId' in what) await this.messages?.eraseTexts(`session:${what.sessionId}`);
      forget();
      return { erased };
    },

    problems: async () =>
      reading(() => new StoreCheck(db).run(key, clock.now(), currentSchema(), (bytes) => digest('sha256', bytes))),

    note: (note) => write(null, () => insertNote(note)),

    notes: async ({ limit = -1 } = {}) =>
      reading(() =>
        sql.notes.all(Number.isFinite(limit) ? limit : -1).map((row) => ({ ...row }) as unknown as OperatorNote),
      ),

    close() {
      closing ??= writer.drained().then(close);
      return closing;
    },
  };
}
