import type { StoredBytes } from '../../src/evidence/chain.ts';
import type { StoredEntry } from '../../src/evidence/entry.ts';
import {
  byNewest,
  type EphemeralEntry,
  matchesQuery,
  type PositionedEntry,
  type ResolvedQuery,
} from '../../src/evidence/evidence-query.ts';
import type { StoredFold } from '../../src/ports/evidence-store.ts';
import type { LeaseRow } from '../../src/stores/rules/append-rules.ts';
import type { StoredLabel, StoredSessionFacts } from '../../src/stores/rules/session-summary.ts';

/** An entry's bytes and its arrival number in the whole store. */
export interface MemoryRow extends StoredBytes {
  body: string | null;
  readonly nth: number;
}

export interface EphemeralRow {
  readonly found: { readonly entry: EphemeralEntry; readonly head: null; readonly body: string };
  readonly nth: number;
}

export interface MemoryTables {
  readonly chains: Map<string, MemoryRow[]>;
  /** Entries by id, in the order of arrival. */
  readonly byId: Map<string, MemoryRow>;
  readonly ephemeral: Map<string, EphemeralRow>;
  readonly sessions: Map<string, StoredSessionFacts & StoredLabel & { closed: boolean }>;
  readonly leases: Map<string, LeaseRow>;
  readonly folds: Map<string, StoredFold>;
  readonly blobs: Map<string, { readonly bytes: Uint8Array; readonly putAt: number }>;
}

/** Returns the matches of a query after its cursor, newest first. It scans all entries. */
export function findNewest(
  { byId, ephemeral }: MemoryTables,
  query: ResolvedQuery,
  read: (row: MemoryRow) => StoredEntry,
): readonly PositionedEntry[] {
  const durable = [...byId.values()].map((row) => placed(read(row), row.nth, false));
  const passing = [...ephemeral.values()].map(({ found, nth }) => placed(structuredClone(found), nth, true));
  return [...durable, ...(query.ephemeral === true ? passing : [])]
    .filter(({ found }) => matchesQuery(query, found.entry))
    .filter(({ position: place }) => query.after === null || byNewest(query.after, place) < 0)
    .sort((a, b) => byNewest(a.position, b.position));
}

const placed = (found: PositionedEntry['found'], nth: number, ephemeral: boolean): PositionedEntry => ({
  position: { at: Date.parse(found.entry.at), ephemeral, nth },
  found,
});
