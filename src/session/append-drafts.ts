import { nameLeaseHolder } from '../base/process-holder.ts';
import type { EvidenceStore } from '../ports/evidence-store.ts';

/**
 * Appends entries to a session that no {@link Session} writes, under a lease of its own.
 * @throws StoreError `session-busy`
 */
export async function appendDrafts(
  store: EvidenceStore,
  sessionId: string,
  drafts: Parameters<EvidenceStore['append']>[2],
  { holder, ms = 10_000 }: { readonly holder: string; readonly ms?: number },
): Promise<void> {
  const lease = await store.acquire(sessionId, nameLeaseHolder(holder), ms);
  try {
    await store.append(lease, await store.head(sessionId), drafts);
  } finally {
    await store.release(lease);
  }
}
