import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EMPTY_CHAIN, type EntryDraft } from '../../src/evidence/entry.ts';
import type { EvidenceStore } from '../../src/ports/evidence-store.ts';
import { nodeSqlite } from '../../src/stores/node-sqlite.ts';
import { sqliteStore } from '../../src/stores/sqlite.ts';

const body = { event: 'step', tool: 'read', args: { path: 'src/gate/decide.ts' }, result: { text: 'x'.repeat(200) } };

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'hopgate-bench-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * What the disk costs: rows of an entry's size per second into a plain node:sqlite table without index, WAL and synchronous FULL,
 * `batch` rows per transaction.
 */
export function rawInsertsPerSecond({ rows = 2000, batch = 1 } = {}): Promise<number> {
  return inFolder(async (folder) => {
    const db = new (nodeSqlite().DatabaseSync)(join(folder, 'raw.db'));
    db.exec(
      'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE raw (id INTEGER PRIMARY KEY, row TEXT)',
    );
    const insert = db.prepare('INSERT INTO raw (row) VALUES (?)');
    const begin = db.prepare('BEGIN IMMEDIATE');
    const commit = db.prepare('COMMIT');
    const row = JSON.stringify({ ...draftOf('s', 0, null), body });
    const start = performance.now();
    for (let written = 0; written < rows; ) {
      begin.run();
      for (let index = 0; index < batch; index++, written++) insert.run(row);
      commit.run();
    }
    const seconds = (performance.now() - start) / 1000;
    db.close();
    return rows / seconds;
  });
}

/**
 * Durable appends per second of a store while `sessions` sessions write side by side, each waiting for its own last append. With one session
 * every append is a transaction; with more they share.
 */
export function appendsPerSecond({
  appends = 2000,
  sessions = 1,
  open = (folder: string): EvidenceStore => sqliteStore(join(folder, 'store.db')),
} = {}): Promise<number> {
  return inFolder(async (folder) => {
    const store = open(folder);
    const each = Math.ceil(appends / sessions);
    const ids = Array.from({ length: sessions }, (_, index) => `session-${index}`);
    const leases = await Promise.all(ids.map((id) => store.acquire(id, 'bench', 600_000)));
    const start = performance.now();
    await Promise.all(
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
    );
    const seconds = (performance.now() - start) / 1000;
    await store.close();
    return (each * sessions) / seconds;
  });
}

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
