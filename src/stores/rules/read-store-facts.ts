import type { ChainHead, EntryDraft, StoredEntry } from '../../evidence/entry.ts';
import type { LeaseRow, StoreFacts } from './append-rules.ts';

/** The reads of a store that answers asynchronously, such as one with a database on another machine. */
export interface StoreReader {
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
export async function readStoreFacts(
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
