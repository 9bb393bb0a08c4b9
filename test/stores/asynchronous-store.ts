import { hash as digest } from 'node:crypto';
import { EMPTY_CHAIN, type StoredEntry } from '../../src/evidence/entry.ts';
import type { EphemeralEntry } from '../../src/evidence/evidence-query.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { type EvidenceStore, type OperatorNote, StoreError } from '../../src/ports/evidence-store.ts';
import {
  judgeAppend,
  judgeEphemeral,
  judgeLease,
  judgeRefusal,
  type LeaseRow,
  readStoredEntry,
  sealAppend,
  sealEphemeral,
  storeError,
} from '../../src/stores/rules/append-rules.ts';
import { checkQuery, checkTime, toQueryPage } from '../../src/stores/rules/query-rules.ts';
import { readView, type StoreReader } from '../../src/stores/rules/read-view.ts';
import { replyChainOf } from '../../src/stores/rules/reply-chain.ts';
import { eventOf, sessionFacts, summariseSession } from '../../src/stores/rules/session-summary.ts';
import { blobReferences, collectBlobs, eraseBodies } from './memory-removal.ts';
import { findNewest, type MemoryTables } from './memory-tables.ts';
import { type Row, WorkerDatabase } from './worker-database.ts';

const NAME = 'asynchronous';

const TABLES = [
  'entries (nth INTEGER PRIMARY KEY, id TEXT UNIQUE, session TEXT, head TEXT, body TEXT, prev TEXT, hash TEXT)',
  'ephemeral (nth INTEGER PRIMARY KEY, id TEXT UNIQUE, entry TEXT)',
  'sessions (id TEXT PRIMARY KEY, agent TEXT, pin TEXT, closed INTEGER, name TEXT, archived INTEGER)',
  'leases (session TEXT PRIMARY KEY, lease TEXT)',
  'folds (session TEXT PRIMARY KEY, fold TEXT)',
  'blobs (hash TEXT PRIMARY KEY, bytes BLOB, put_at INTEGER)',
  'notes (nth INTEGER PRIMARY KEY, note TEXT)',
];

const read = (row: Row): StoredEntry => readStoredEntry(NAME, row as never);
const parse = <T>(row: Row | undefined, column: string): T | null =>
  row === undefined ? null : JSON.parse(String(row[column]));

/**
 * An evidence store whose every read is awaited. Rare operations load all rows into tables in memory.
 */
export async function asynchronousStore(file: string, clock: Clock): Promise<EvidenceStore> {
  const db = new WorkerDatabase(file);
  for (const table of TABLES) await db.run(`CREATE TABLE IF NOT EXISTS ${table}`);
  let closing: Promise<void> | null = null;

  const reader: StoreReader = {
    name: NAME,
    leaseOf: async (session) =>
      parse<LeaseRow>((await db.run('SELECT lease FROM leases WHERE session = ?', session))[0], 'lease'),
    async headOf(session) {
      const [last] = await db.run('SELECT * FROM entries WHERE session = ? ORDER BY nth DESC LIMIT 1', session);
      if (last === undefined) return EMPTY_CHAIN;
      const { seq, hash } = read(last).entry;
      return { seq, hash };
    },
    find: async (ids) =>
      (await db.run('SELECT * FROM entries WHERE id IN (SELECT value FROM json_each(?))', JSON.stringify(ids))).map(
        read,
      ),
    findEphemeral: async (ids) =>
      (await db.run('SELECT id FROM ephemeral WHERE id IN (SELECT value FROM json_each(?))', JSON.stringify(ids))).map(
        ({ id }) => String(id),
      ),
  };
  const inTransaction = async <T>(work: () => Promise<T>): Promise<T> => {
    if (closing) throw storeError(NAME, 'store-failed', 'the store is closed; open it again');
    return db.transaction(work);
  };
  const addNote = (note: OperatorNote) => db.run('INSERT INTO notes (note) VALUES (?)', JSON.stringify(note));
  const putLease = (session: string, lease: LeaseRow) =>
    db.run('INSERT OR REPLACE INTO leases VALUES (?, ?)', session, JSON.stringify(lease));
  const write = async <T>(session: string, work: (now: number) => Promise<T>): Promise<T> => {
    try {
      return await inTransaction(() => work(clock.now()));
    } catch (error) {
      if (error instanceof StoreError)
        await inTransaction(async () => {
          const refusal = judgeRefusal(error, session, await reader.leaseOf(session), clock.now());
          if (refusal !== null) await addNote(refusal.note);
          if (refusal?.lease) await putLease(session, refusal.lease);
        });
      throw error;
    }
  };
  const withTables = <T>(work: (tables: MemoryTables) => T): Promise<T> =>
    inTransaction(async () => {
      const tables = await loadTables(db);
      const result = work(tables);
      await saveRemovals(db, tables);
      return result;
    });
  const findIn =
    ({ byId, ephemeral }: MemoryTables) =>
    (id: string) =>
      byId.has(id) ? readStoredEntry(NAME, byId.get(id)!) : (ephemeral.get(id)?.found ?? null);

  return {
    name: NAME,
    acquire: (sessionId, holder, ttl) =>
      write(sessionId, async (now) => {
        const { lease, note } = judgeLease(await readView(reader, sessionId), now, sessionId, holder, ttl);
        await putLease(sessionId, lease);
        if (note !== null) await addNote(note);
        return { sessionId, holder, until: lease.until };
      }),
    release: ({ sessionId, holder }, fold) =>
      inTransaction(async () => {
        if ((await reader.leaseOf(sessionId))?.holder !== holder) return;
        await db.run('DELETE FROM leases WHERE session = ?', sessionId);
        const erased = await db.run('SELECT 1 FROM entries WHERE session = ? AND body IS NULL', sessionId);
        if (fold && erased.length === 0)
          await db.run('INSERT OR REPLACE INTO folds VALUES (?, ?)', sessionId, JSON.stringify(fold));
      }),
    keptFold: (sessionId) =>
      inTransaction(async () =>
        parse((await db.run('SELECT fold FROM folds WHERE session = ?', sessionId))[0], 'fold'),
      ),
    async append(lease, after, drafts) {
      const { drafts: complete, sealed } = sealAppend(NAME, lease, after, drafts, clock.now());
      return write(lease.sessionId, async (now) => {
        const view = await readView(reader, lease.sessionId, complete);
        const granted = judgeAppend(view, now, lease, after, complete, sealed);
        if (granted.lease !== null) await putLease(lease.sessionId, granted.lease);
        for (const stored of granted.fresh) await addEntry(db, stored);
        return granted.stored;
      });
    },
    async appendEphemeral(sessionId, drafts) {
      const entries = sealEphemeral(NAME, sessionId, drafts, clock.now());
      return write(sessionId, async () => {
        for (const entry of judgeEphemeral(await readView(reader, sessionId, entries), entries))
          await db.run('INSERT INTO ephemeral (id, entry) VALUES (?, ?)', entry.id, JSON.stringify(entry));
        return entries;
      });
    },
    head: (sessionId) => inTransaction(() => reader.headOf(sessionId)),
    async *entries(sessionId, { from = 0 } = {}) {
      for (let next = Math.max(0, from); ; next += 100) {
        const page = await inTransaction(() =>
          db.run('SELECT * FROM entries WHERE session = ? ORDER BY nth LIMIT 100 OFFSET ?', sessionId, next),
        );
        for (const row of page) yield read(row);
        if (page.length < 100) return;
      }
    },
    get: (id) => inTransaction(async () => (await reader.find([id]))[0] ?? null),
    async query(asked) {
      const checked = checkQuery(NAME, asked);
      return withTables((tables) =>
        toQueryPage(
          NAME,
          checked,
          findNewest(tables, checked, (row) => readStoredEntry(NAME, row)),
        ),
      );
    },
    replyChain: (id) => withTables((tables) => replyChainOf(NAME, id, findIn(tables))),
    sessions: () =>
      withTables(({ chains, sessions, leases }) =>
        [...chains]
          .map(([sessionId, chain]) => {
            const facts = sessions.get(sessionId)!;
            const [first, last] = [chain[0]!, chain.at(-1)!].map((row) => readStoredEntry(NAME, row).entry);
            return summariseSession(facts, first!, last!, facts.closed, leases.get(sessionId) ?? null, clock.now());
          })
          .reverse()
          .sort((a, b) => (a.openedAt < b.openedAt ? 1 : a.openedAt > b.openedAt ? -1 : 0)),
      ),
    async label(sessionId, { name, archived }) {
      const known = await db.run('SELECT 1 FROM sessions WHERE id = ?', sessionId);
      if (known.length === 0) throw storeError(NAME, 'session-not-found', `there is no session ${sessionId}`);
      if (name !== undefined) await db.run('UPDATE sessions SET name = ? WHERE id = ?', name, sessionId);
      if (archived !== undefined)
        await db.run('UPDATE sessions SET archived = ? WHERE id = ?', Number(archived), sessionId);
    },
    async putBlob(bytes) {
      const [hash, copy] = [digest('sha256', bytes), new Uint8Array(bytes)];
      await inTransaction(() => db.run('INSERT OR REPLACE INTO blobs VALUES (?, ?, ?)', hash, copy, clock.now()));
      return hash;
    },
    getBlob: (hash) =>
      inTransaction(
        async () =>
          ((await db.run('SELECT bytes FROM blobs WHERE hash = ?', hash))[0]?.['bytes'] ?? null) as Uint8Array | null,
      ),
    blobReferences: (hash) => withTables((tables) => blobReferences(tables, hash)),
    async collectBlobs({ olderThan }) {
      const before = checkTime(NAME, olderThan);
      return withTables((tables) => ({ collected: collectBlobs(tables, before) }));
    },
    erase: (what) => withTables((tables) => ({ erased: eraseBodies(NAME, tables, what, clock.now()) })),
    note: async (note) => void (await inTransaction(() => addNote(note))),
    notes: ({ limit = -1 } = {}) =>
      inTransaction(async () =>
        (await db.run('SELECT note FROM notes ORDER BY nth DESC LIMIT ?', limit)).map(
          (row) => parse<OperatorNote>(row, 'note')!,
        ),
      ),
    close() {
      closing ??= db.close();
      return closing;
    },
  };
}

async function addEntry(db: WorkerDatabase, { entry, head, body }: StoredEntry): Promise<void> {
  const { id, sessionId, prev, hash } = entry;
  const columns = '(id, session, head, body, prev, hash)';
  await db.run(`INSERT INTO entries ${columns} VALUES (?, ?, ?, ?, ?, ?)`, id, sessionId, head, body, prev, hash);
  const { agent, pin } = sessionFacts(entry);
  if (entry.seq === 0) await db.run('INSERT INTO sessions VALUES (?, ?, ?, 0, NULL, 0)', sessionId, agent, pin);
  if (eventOf(entry.body) === 'session-closed') await db.run('UPDATE sessions SET closed = 1 WHERE id = ?', sessionId);
}

async function loadTables(db: WorkerDatabase): Promise<MemoryTables> {
  const chains: MemoryTables['chains'] = new Map();
  const byId: MemoryTables['byId'] = new Map();
  for (const row of await db.run('SELECT * FROM entries ORDER BY nth')) {
    const session = String(row['session']);
    const kept = { ...row } as never;
    byId.set(String(row['id']), kept);
    chains.set(session, [...(chains.get(session) ?? []), kept]);
  }
  const rows = async <T>(sql: string, key: string, value: (row: Row) => T): Promise<Map<string, T>> =>
    new Map((await db.run(sql)).map((row) => [String(row[key]), value(row)]));
  return {
    chains,
    byId,
    ephemeral: await rows('SELECT * FROM ephemeral ORDER BY nth', 'id', (row) => {
      const entry = parse<EphemeralEntry>(row, 'entry')!;
      return { found: { entry, head: null, body: JSON.stringify(entry.body) }, nth: Number(row['nth']) };
    }),
    sessions: await rows('SELECT * FROM sessions', 'id', ({ agent, pin, closed, name, archived }) => ({
      agent: String(agent),
      pin: String(pin),
      closed: closed === 1,
      name: name === null ? null : String(name),
      archived: archived === 1,
    })),
    leases: await rows('SELECT * FROM leases', 'session', (row) => parse(row, 'lease')!),
    folds: await rows('SELECT * FROM folds', 'session', (row) => parse(row, 'fold')!),
    blobs: await rows('SELECT hash, put_at FROM blobs', 'hash', (row) => ({
      bytes: new Uint8Array(),
      putAt: Number(row['put_at']),
    })),
  };
}

/** Writes what a rule removed from the tables. */
async function saveRemovals(db: WorkerDatabase, { byId, ephemeral, folds, blobs }: MemoryTables): Promise<void> {
  const erased = [...byId].flatMap(([id, { body }]) => (body === null ? [id] : []));
  await db.run('UPDATE entries SET body = NULL WHERE id IN (SELECT value FROM json_each(?))', JSON.stringify(erased));
  for (const [id, { found }] of ephemeral)
    if (found.body === 'null')
      await db.run('UPDATE ephemeral SET entry = ? WHERE id = ?', JSON.stringify(found.entry), id);
  const kept = { folds: ['session', folds], blobs: ['hash', blobs] } as const;
  for (const [table, [key, rows]] of Object.entries(kept))
    await db.run(
      `DELETE FROM ${table} WHERE ${key} NOT IN (SELECT value FROM json_each(?))`,
      JSON.stringify([...rows.keys()]),
    );
}
