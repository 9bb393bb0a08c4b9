import type { SpecTables } from '../../compile/spec-tables.ts';
import { isNextInChain } from '../../evidence/chain.ts';
import type { Entry } from '../../evidence/entry.ts';
import type { EvidenceStore } from '../../ports/evidence-store.ts';
import { applyEntry, FoldError } from './apply-entry.ts';
import type { SessionState } from './session-state.ts';

/**
 * The states after the stored entries that follow `state`, each with its entry.
 * @throws FoldError if an entry was changed or removed
 */
export async function* foldEntries(
  store: Pick<EvidenceStore, 'entries'>,
  tables: SpecTables,
  state: SessionState,
): AsyncIterable<{ readonly state: SessionState; readonly entry: Entry }> {
  const { sessionId } = state.facts;
  let after = state;
  for await (const stored of store.entries(sessionId, { from: after.head.seq + 1 })) {
    const { entry } = stored;
    if (!isNextInChain(stored, after.head))
      throw new FoldError(
        `an entry at or before seq ${entry.seq} of session "${sessionId}" was changed or removed, so it cannot be resumed; run "hopgate verify"`,
      );
    after = applyEntry(tables, after, stored);
    yield { state: after, entry };
  }
}

/** The state after the last stored entry. @throws FoldError as {@link foldEntries} */
export async function foldToEnd(...[store, tables, state]: Parameters<typeof foldEntries>): Promise<SessionState> {
  let last = state;
  for await (const after of foldEntries(store, tables, state)) last = after.state;
  return last;
}
