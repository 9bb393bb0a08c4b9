import { blobsIn } from '../../src/evidence/redaction.ts';
import type { BlobReferences, Erasure } from '../../src/ports/evidence-store.ts';
import { storeError } from '../../src/stores/rules/append-rules.ts';
import { entryNotFound, sessionIsWritten } from '../../src/stores/rules/reply-chain.ts';
import type { MemoryRow, MemoryTables } from './memory-tables.ts';

export function blobReferences({ byId, ephemeral, sessions }: MemoryTables, hash: string): BlobReferences {
  const bodies = [
    ...[...byId].map(([id, { body }]) => [id, body] as const),
    ...[...ephemeral].map(([id, { found }]) => [id, found.body] as const),
  ];
  return {
    entries: bodies.flatMap(([id, body]) => (blobsIn(JSON.parse(body ?? 'null')).includes(hash) ? [id] : [])).sort(),
    sessions: [...sessions].flatMap(([id, { pin }]) => (pin === hash ? [id] : [])).sort(),
  };
}

/** Removes unreferenced blobs that were last put before a time. */
export function collectBlobs(tables: MemoryTables, before: number): number {
  let collected = 0;
  for (const [hash, { putAt }] of tables.blobs) {
    const { entries, sessions } = blobReferences(tables, hash);
    if (putAt >= before || entries.length > 0 || sessions.length > 0) continue;
    tables.blobs.delete(hash);
    collected += 1;
  }
  return collected;
}

/** Erases the bodies of a session or of single entries. */
export function eraseBodies(store: string, tables: MemoryTables, what: Erasure, now: number): number {
  const rows = rowsOf(store, tables, what);
  for (const row of rows) {
    const { sessionId } = JSON.parse(row.head) as { sessionId: string };
    const held = tables.leases.get(sessionId);
    if (held !== undefined && held.until > now) throw sessionIsWritten(store, sessionId, held);
  }
  for (const row of rows) tables.folds.delete((JSON.parse(row.head) as { sessionId: string }).sessionId);
  let erased = 0;
  for (const row of rows) {
    if (row.body !== null) erased += 1;
    row.body = null;
  }
  return 'ids' in what ? erased : erased + eraseEphemeral(tables, what.sessionId);
}

function rowsOf(store: string, { byId, chains }: MemoryTables, what: Erasure): readonly MemoryRow[] {
  if ('sessionId' in what) {
    const chain = chains.get(what.sessionId);
    if (chain === undefined) throw storeError(store, 'session-not-found', `there is no session ${what.sessionId}`);
    return chain;
  }
  return what.ids.map((id) => {
    const row = byId.get(id);
    if (row === undefined) throw entryNotFound(store, id);
    return row;
  });
}

function eraseEphemeral({ ephemeral }: MemoryTables, sessionId: string): number {
  let erased = 0;
  for (const [id, { found, nth }] of ephemeral) {
    if (found.entry.sessionId !== sessionId || found.body === 'null') continue;
    ephemeral.set(id, { found: { entry: { ...found.entry, body: null }, head: null, body: 'null' }, nth });
    erased += 1;
  }
  return erased;
}
