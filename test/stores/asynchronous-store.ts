import { hash as digest } from 'node:crypto';
import type { StoredBytes } from '../../src/evidence/chain.ts';
import { type ChainHead, EMPTY_CHAIN, type EntryDraft, type StoredEntry } from '../../src/evidence/entry.ts';
import {
  compareByNewest,
  type EphemeralEntry,
  type FoundEntry,
  matchesQuery,
  type PositionedEntry,
} from '../../src/evidence/evidence-query.ts';
import { findBlobIds } from '../../src/evidence/find-blob-ids.ts';
import type { Clock } from '../../src/ports/clock.ts';
import {
  type EvidenceStore,
  type OperatorNote,
  type SessionLabel,
  type StoredFold,
  StoreError,
} from '../../src/ports/evidence-store.ts';
import {
  judgeAppend,
  judgeEphemeralAppend,
  judgeLease,
  type LeaseRow,
  readStoredEntry,
  rowsAfterRefusal,
  type StoreFacts,
  sealAppendDrafts,
  sealEphemeralDrafts,
  storeError,
} from '../../src/stores/rules/append-rules.ts';
import { parseOlderThan, resolveStoreQuery, toQueryPage } from '../../src/stores/rules/query-rules.ts';
import { entryNotFoundError, readReplyChain, sessionBusyError } from '../../src/stores/rules/reply-chain.ts';
import { eventOfBody, type StoredSessionFacts, sessionFactsOfEntry } from '../../src/stores/rules/session-summary.ts';
import { makeTimeOrderedId } from '../../src/stores/time-ordered-id.ts';

/** The reads of a store that answers asynchronously, such as one with a database on another machine. */
interface StoreReader {
  readonly name: string;
  leaseOf(sessionId: string): Promise<LeaseRow | null>;
  headOf(sessionId: string): Promise<ChainHead>;
  find(ids: readonly string[]): Promise<readonly StoredEntry[]>;
  /** Returns those of the given ids that belong to ephemeral entries. */
  findEphemeral(ids: readonly string[]): Promise<readonly string[]>;
}

/**
 * Reads what the rules need to judge one write of a session. Call it in the transaction of the write. No holder of a
 * lease counts as ended, because processes of other machines cannot be seen: only the lease's expiry counts.
 */
async function readStoreFacts(
  reader: StoreReader,
  sessionId: string,
  drafts: readonly Pick<EntryDraft, 'id' | 'inReplyTo' | 'forkOf'>[] = [],
): Promise<StoreFacts> {
  const ids = [...new Set(drafts.flatMap(({ id, inReplyTo, forkOf }) => [id, inReplyTo ?? [], forkOf ?? []].flat()))];
  const [lease, head, entries, ephemeral] = await Promise.all([
    reader.leaseOf(sessionId),
    reader.headOf(sessionId),
    reader.find(ids),
    reader.findEphemeral(ids),
  ]);
  const found = new Map(entries.map((stored) => [stored.entry.id, stored]));
  return {
    name: reader.name,
    isGone: () => false,
    leaseOf: () => lease,
    headOf: () => head,
    find: (id) => found.get(id) ?? null,
    has: (id) => found.has(id),
    hasEphemeral: (id) => ephemeral.includes(id),
  };
}

/** The value of a row of each table, which the database stores as JSON text. */
interface Values {
  /** By the id of the entry. */
  readonly entries: StoredBytes;
  readonly ephemeral: EphemeralEntry;
  /** By the id of the session, as are leases and folds. */
  readonly sessions: StoredSessionFacts &
    Required<SessionLabel> & { readonly closed: boolean; readonly head: ChainHead };
  readonly leases: LeaseRow;
  readonly folds: StoredFold;
  /** By the sha256 of the bytes. `bytes` is base64, `putAt` in epoch milliseconds. */
  readonly blobs: { readonly bytes: string; readonly putAt: number };
  readonly notes: OperatorNote;
}
export type TableName = keyof Values;

export interface TextRow {
  readonly key: string;
  readonly value: string;
}

/** The rows of a database within one transaction, which sees its own writes. */
export interface TextRows {
  /** Returns the value of a key; null if there is none. */
  get(table: TableName, key: string): Promise<string | null>;
  /** Returns the rows of a table, or of one session in it, in the order in which their keys were first put. */
  list(table: TableName, session?: string): Promise<readonly TextRow[]>;
  /** Adds a row, or replaces the one with this key at its place in the list. `session` is empty if a row has none. */
  put(table: TableName, key: string, value: string, session: string): Promise<void>;
  /** Does nothing if there is no such key. */
  delete(table: TableName, key: string): Promise<void>;
}

/** A database with transactions: the only part that differs from store to store. */
export interface TextDatabase {
  /**
   * Runs one transaction at a time, in the order of the calls, also among all processes that open the database. All
   * writes of `work` are durable before the promise fulfils; if `work` throws, none is, and the promise rejects with its
   * error.
   */
  transaction<T>(work: (rows: TextRows) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** The tables of one transaction, with parsed values. */
class Tables {
  readonly #rows: TextRows;
  constructor(rows: TextRows) {
    this.#rows = rows;
  }
  async get<T extends TableName>(table: T, key: string): Promise<Values[T] | null> {
    return JSON.parse((await this.#rows.get(table, key)) ?? 'null');
  }
  async list<T extends TableName>(table: T, session?: string): Promise<readonly (readonly [string, Values[T]])[]> {
    return (await this.#rows.list(table, session)).map(({ key, value }) => [key, JSON.parse(value)]);
  }
  put<T extends TableName>(
    table: T,
    key: string,
    value: Values[T],
    ...[session = '']: T extends 'entries' | 'ephemeral' ? [session: string] : []
  ): Promise<void> {
    return this.#rows.put(table, key, JSON.stringify(value), session);
  }
  delete(table: TableName, key: string): Promise<void> {
    return this.#rows.delete(table, key);
  }
}

const addNote = (tables: Tables, note: OperatorNote) => tables.put('notes', makeTimeOrderedId(), note);

/**
 * An evidence store over any database with transactions. Queries, lists and erasure read whole tables. It has no
 * inboxes, so nobody can ring or whistle.
 *
 * @param name begins the messages of its errors: `[stores/<name>]`
 */
export function asynchronousStore(name: string, database: TextDatabase, clock: Clock = Date): EvidenceStore {
  let closing: Promise<void> | null = null;

  const transaction = async <T>(work: (tables: Tables) => Promise<T>): Promise<T> => {
    if (closing) throw storeError(name, 'store-failed', 'the store is closed; open it again');
    return database.transaction((rows) => work(new Tables(rows)));
  };
  /** Runs a write of a session. If it is refused, records that in a transaction of its own: this one is rolled back. */
  const write = async <T>(session: string, work: (tables: Tables, now: number) => Promise<T>): Promise<T> => {
    try {
      return await transaction((tables) => work(tables, clock.now()));
    } catch (error) {
      if (error instanceof StoreError && closing === null)
        await transaction(async (tables) => {
          const refusal = rowsAfterRefusal(error, session, await tables.get('leases', session), clock.now());
          if (refusal !== null) await addNote(tables, refusal.note);
          if (refusal?.lease) await tables.put('leases', session, refusal.lease);
        });
      throw error;
    }
  };
  const read = (bytes: StoredBytes): StoredEntry => readStoredEntry(name, bytes);
  const reader = (tables: Tables): StoreReader => ({
    name,
    leaseOf: (session) => tables.get('leases', session),
    headOf: async (session) => (await tables.get('sessions', session))?.head ?? EMPTY_CHAIN,
    find: async (ids) =>
      (await Promise.all(ids.map((id) => tables.get('entries', id)))).flatMap((bytes) => (bytes ? [read(bytes)] : [])),
    findEphemeral: async (ids) =>
      (await Promise.all(ids.map((id) => tables.get('ephemeral', id)))).flatMap((entry) => (entry ? [entry.id] : [])),
  });
  const addEntry = async (tables: Tables, { entry, head, body }: StoredEntry): Promise<void> => {
    const { id, sessionId, seq, prev, hash } = entry;
    await tables.put('entries', id, { head, body, prev, hash }, sessionId);
    const session = await tables.get('sessions', sessionId);
    await tables.put('sessions', sessionId, {
      ...(session ?? { ...sessionFactsOfEntry(entry), name: null, archived: false }),
      closed: session?.closed === true || eventOfBody(entry.body) === 'session-closed',
      head: { seq, hash },
    });
  };
  /** All durable and ephemeral entries, in the order of arrival. */
  const allEntries = async (tables: Tables, ephemeral = true): Promise<readonly PositionedEntry[]> => {
    const durable: FoundEntry[] = (await tables.list('entries')).map(([, bytes]) => read(bytes));
    const passing: FoundEntry[] = (ephemeral ? await tables.list('ephemeral') : []).map(([, entry]) => ({
      entry,
      head: null,
      body: JSON.stringify(entry.body),
    }));
    return [durable, passing].flatMap((list, index) =>
      list.map((found, nth) => ({ position: { at: Date.parse(found.entry.at), ephemeral: index === 1, nth }, found })),
    );
  };
  const blobReferences = async (tables: Tables, hash: string) => ({
    entries: (await allEntries(tables))
      .flatMap(({ found: { entry } }) => (findBlobIds(entry.body).includes(hash) ? [entry.id] : []))
      .sort(),
    sessions: (await tables.list('sessions')).flatMap(([session, { pin }]) => (pin === hash ? [session] : [])).sort(),
  });
  const erasable = async (tables: Tables, what: Parameters<EvidenceStore['erase']>[0]) => {
    if ('sessionId' in what) {
      const rows = await tables.list('entries', what.sessionId);
      if (rows.length === 0) throw storeError(name, 'session-not-found', `there is no session ${what.sessionId}`);
      return rows;
    }
    return Promise.all(
      what.ids.map(async (id) => {
        const bytes = await tables.get('entries', id);
        if (bytes === null) throw entryNotFoundError(name, id);
        return [id, bytes] as const;
      }),
    );
  };

  return {
    name,
    acquire: (sessionId, holder, ttl) =>
      write(sessionId, async (tables, now) => {
        const { lease, note } = judgeLease(
          await readStoreFacts(reader(tables), sessionId),
          now,
          sessionId,
          holder,
          ttl,
        );
        await tables.put('leases', sessionId, lease);
        if (note !== null) await addNote(tables, note);
        return { sessionId, holder, until: lease.until };
      }),
    release: ({ sessionId, holder }, fold) =>
      transaction(async (tables) => {
        if ((await tables.get('leases', sessionId))?.holder !== holder) return;
        await tables.delete('leases', sessionId);
        const isErased = (await tables.list('entries', sessionId)).some(([, { body }]) => body === null);
        if (fold !== undefined && !isErased) await tables.put('folds', sessionId, fold);
      }),
    keptFold: (sessionId) => transaction((tables) => tables.get('folds', sessionId)),
    async append(lease, after, drafts) {
      const { drafts: complete, sealed } = sealAppendDrafts(name, lease, after, drafts, clock.now());
      return write(lease.sessionId, async (tables, now) => {
        const view = await readStoreFacts(reader(tables), lease.sessionId, complete);
        const accepted = judgeAppend(view, now, lease, after, complete, sealed);
        if (accepted.lease !== null) await tables.put('leases', lease.sessionId, accepted.lease);
        for (const stored of accepted.fresh) await addEntry(tables, stored);
        return accepted.stored;
      });
    },
    async appendEphemeral(sessionId, drafts) {
      const entries = sealEphemeralDrafts(name, sessionId, drafts, clock.now());
      return write(sessionId, async (tables) => {
        for (const entry of judgeEphemeralAppend(await readStoreFacts(reader(tables), sessionId, entries), entries))
          await tables.put('ephemeral', entry.id, entry, sessionId);
        return entries;
      });
    },
    head: (sessionId) => transaction((tables) => reader(tables).headOf(sessionId)),
    async *entries(sessionId, { from = 0 } = {}) {
      for (let next = Math.max(0, from); ; ) {
        const page = (await transaction((tables) => tables.list('entries', sessionId))).slice(next);
        if (page.length === 0) return;
        for (const [, bytes] of page) yield read(bytes);
        next += page.length;
      }
    },
    get: (id) => transaction(async (tables) => (await reader(tables).find([id]))[0] ?? null),
    async query(query) {
      const checked = resolveStoreQuery(name, query);
      const matches = (await transaction((tables) => allEntries(tables, checked.ephemeral === true)))
        .filter(({ found }) => matchesQuery(checked, found.entry))
        .filter(({ position }) => checked.after === null || compareByNewest(checked.after, position) < 0)
        .sort((a, b) => compareByNewest(a.position, b.position));
      return toQueryPage(name, checked, matches);
    },
    async replyChain(id) {
      const found = new Map((await transaction(allEntries)).map(({ found }) => [found.entry.id, found]));
      return readReplyChain(name, id, (each) => found.get(each) ?? null);
    },
    sessions: () =>
      transaction(async (tables) => {
        const list = await Promise.all(
          (await tables.list('sessions')).map(async ([id, session]) => {
            const entries = (await tables.list('entries', id)).map(([, bytes]) => read(bytes).entry);
            const lease = await tables.get('leases', id);
            const [first, last] = [entries[0]!, entries.at(-1)!];
            return {
              ...session,
              sessionId: id,
              openedAt: first.at,
              lastAt: last.at,
              entries: last.seq + 1,
              lease: lease !== null && lease.until > clock.now() ? lease : null,
              erased: first.body === null,
            };
          }),
        );
        return list.reverse().sort((a, b) => Date.parse(b.openedAt) - Date.parse(a.openedAt));
      }),
    label: (sessionId, label) =>
      transaction(async (tables) => {
        const session = await tables.get('sessions', sessionId);
        if (session === null) throw storeError(name, 'session-not-found', `there is no session ${sessionId}`);
        const { name: title = session.name, archived = session.archived } = label;
        await tables.put('sessions', sessionId, { ...session, name: title, archived });
      }),
    async putBlob(bytes) {
      const [hash, copy] = [digest('sha256', bytes), Buffer.from(bytes).toString('base64')];
      await transaction((tables) => tables.put('blobs', hash, { bytes: copy, putAt: clock.now() }));
      return hash;
    },
    getBlob: (hash) =>
      transaction(async (tables) => {
        const blob = await tables.get('blobs', hash);
        return blob && Uint8Array.from(Buffer.from(blob.bytes, 'base64'));
      }),
    blobReferences: (hash) => transaction((tables) => blobReferences(tables, hash)),
    async collectBlobs({ olderThan }) {
      const before = parseOlderThan(name, olderThan);
      return transaction(async (tables) => {
        let collected = 0;
        for (const [hash, { putAt }] of await tables.list('blobs')) {
          const { entries, sessions } = await blobReferences(tables, hash);
          if (putAt >= before || entries.length > 0 || sessions.length > 0) continue;
          await tables.delete('blobs', hash);
          collected += 1;
        }
        return { collected };
      });
    },
    erase: (what) =>
      transaction(async (tables) => {
        const rows = await erasable(tables, what);
        for (const session of new Set(rows.map(([, bytes]) => read(bytes).entry.sessionId))) {
          const lease = await tables.get('leases', session);
          if (lease !== null && lease.until > clock.now()) throw sessionBusyError(name, session, lease);
          await tables.delete('folds', session);
        }
        const full = rows.filter(([, { body }]) => body !== null);
        for (const [id, bytes] of full)
          await tables.put('entries', id, { ...bytes, body: null }, read(bytes).entry.sessionId);
        if ('ids' in what) return { erased: full.length };
        const ephemeral = (await tables.list('ephemeral', what.sessionId)).filter(([, { body }]) => body !== null);
        for (const [id, entry] of ephemeral)
          await tables.put('ephemeral', id, { ...entry, body: null }, what.sessionId);
        return { erased: full.length + ephemeral.length };
      }),
    note: (note) => transaction((tables) => addNote(tables, note)),
    notes: ({ limit = Number.POSITIVE_INFINITY } = {}) =>
      transaction(async (tables) =>
        (await tables.list('notes'))
          .map(([, note]) => note)
          .reverse()
          .slice(0, limit),
      ),
    close() {
      closing ??= database.close();
      return closing;
    },
  };
}
