import { randomUUID } from 'node:crypto';
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { EMPTY_CHAIN, type EntryDraft } from '../../src/evidence/entry.ts';
import { type Database, loadNodeSqlite } from '../../src/stores/sqlite/node-sqlite.ts';
import { openDatabase } from '../../src/stores/sqlite/sqlite-schema.ts';
import { sqliteStore } from '../../src/stores/sqlite.ts';
import { stepsInto } from './gated-steps.ts';
import { type Pace, paceOf } from './pace.ts';

/** Calls `work` with the path of a new database file. */
export async function inFolder<T>(work: (file: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'hopgate-bench-'));
  try {
    return await work(join(folder, 'store.db'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

type Row = { readonly [column: string]: string | number | null };

/** The rows that gated steps of `sessions` sessions at once leave in a store, in the order of the inserts. */
export function entryRows(rows: number, sessions: number): Promise<readonly Row[]> {
  return inFolder(async (file) => {
    const store = sqliteStore(file);
    await stepsInto(store, rows, sessions);
    await store.close();
    const db = new (loadNodeSqlite().DatabaseSync)(file, { readOnly: true });
    const all = db.prepare('SELECT * FROM entries ORDER BY nth DESC LIMIT ?').all(rows).reverse() as unknown as Row[];
    db.close();
    return all;
  });
}

/**
 * The cost of the disk: plain INSERTs of the very rows that steps leave, `batch` a transaction, as durable as the
 * store (WAL, synchronous FULL). A shorter row would let the base write fewer bytes than the step. Each transaction is
 * awaited, as a program does whose next call comes through the event loop.
 *
 * @param indexed false: into a table without any index, which can find nothing; true: into the store's own tables and
 *   indexes, which answer the same queries as the store
 */
export function rawInserts(rows: readonly Row[], batch: number, indexed: boolean): Promise<Pace> {
  return inFolder(async (file) => {
    const columns = Object.keys(rows[0]!).filter((column) => column !== 'nth');
    const db = indexed ? openDatabase(file, 0) : bareTable(file, columns);
    const values = rows.map((row) => columns.map((column) => row[column]!));
    const insert = db.prepare(`INSERT INTO entries (${columns}) VALUES (${columns.map(() => '?')})`);
    const [begin, commit] = [db.prepare('BEGIN IMMEDIATE'), db.prepare('COMMIT')];
    const pace = await paceOf(rows.length, async () => {
      for (let written = 0; written < rows.length; await setImmediate()) {
        begin.run();
        for (const end = Math.min(written + batch, rows.length); written < end; written++)
          insert.run(...values[written]!);
        commit.run();
      }
    });
    db.close();
    return pace;
  });
}

/** The cost of a sync alone: a page is appended to a file and synced, as a commit does at least once. */
export const syncedPages = (): Promise<Pace> =>
  inFolder(async (path) => {
    const file = openSync(path, 'w');
    const page = Buffer.alloc(4096, 1);
    const pages = 500;
    const pace = await paceOf(pages, () => {
      for (let written = 0; written < pages; written++) {
        writeSync(file, page);
        fdatasyncSync(file);
      }
    });
    closeSync(file);
    return pace;
  });

function bareTable(file: string, columns: readonly string[]): Database {
  const db = new (loadNodeSqlite().DatabaseSync)(file);
  db.exec(
    `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE entries (nth INTEGER PRIMARY KEY, ${columns})`,
  );
  return db;
}

/** Durable gated steps into a new store. */
export const gatedSteps = ({ steps = 1000, sessions = 1 } = {}): Promise<Pace> =>
  inFolder(async (file) => {
    const store = sqliteStore(file);
    const pace = await stepsInto(store, steps, sessions);
    await store.close();
    return pace;
  });

/**
 * Durable appends of a store while `sessions` sessions write side by side, each waiting for its own last append. With
 * one session every append is a transaction; with more they share.
 */
export function storeAppends({ appends = 2000, sessions = 1 } = {}): Promise<Pace> {
  return inFolder(async (file) => {
    const store = sqliteStore(file);
    const each = Math.ceil(appends / sessions);
    const ids = Array.from({ length: sessions }, (_, index) => `session-${index}`);
    const leases = await Promise.all(ids.map((id) => store.acquire(id, 'bench', 600_000)));
    const pace = await paceOf(each * sessions, () =>
      Promise.all(
        leases.map(async (lease) => {
          let head = EMPTY_CHAIN;
          let last: string | null = null;
          for (let index = 0; index < each; index++) {
            const draft: EntryDraft = draftOf(lease.sessionId, index, last);
            const [stored] = await store.append(lease, head, [draft]);
            head = { seq: stored!.entry.seq, hash: stored!.entry.hash };
            last = draft.id;
          }
        }),
      ),
    );
    await store.close();
    return pace;
  });
}

const body = { event: 'step', tool: 'read', args: { path: 'src/gate/decide.ts' }, result: { text: 'x'.repeat(200) } };

const draftOf = (sessionId: string, index: number, inReplyTo: string | null): EntryDraft => ({
  id: randomUUID(),
  at: new Date(1_770_000_000_000 + index).toISOString(),
  type: 'coordination',
  claim: 'step',
  subject: { type: 'session', id: sessionId },
  author: 'bench-agent',
  sessionId,
  peripheral: 'explore',
  mode: 'diagnose',
  body,
  tags: ['explore'],
  ...(inReplyTo === null ? {} : { inReplyTo }),
});
