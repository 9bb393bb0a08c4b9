import manifest from '../../../package.json' with { type: 'json' };
import { isEntryIntact } from '../../evidence/chain.ts';
import type { EvidenceStore, StoredFold } from '../../ports/evidence-store.ts';
import type { SessionState } from './session-state.ts';

/** The format of a stored state. Raise the number if `applyEntry` changes, so that older states are ignored. */
const FORMAT = `${manifest.version} 10`;

export interface StoredState {
  readonly pin: string;
  readonly state: SessionState;
}

/** Converts a state to the form in which the store keeps it. */
export const toStoredFold = ({ pin, state }: StoredState): StoredFold => ({
  head: state.head,
  text: JSON.stringify({ format: FORMAT, pin, state }),
});

/**
 * Reads the state that was stored when the session was last released. null if another version of hopgate stored it, if
 * another entry is the last one of the chain, or if that entry's bytes do not match its hash: then the session is
 * folded from its first entry.
 */
export async function readStoredState(store: EvidenceStore, sessionId: string): Promise<StoredState | null> {
  const fold = await store.keptFold?.(sessionId);
  if (!fold) return null;
  const { format, pin, state } = JSON.parse(fold.text) as StoredState & { readonly format: string };
  if (format !== FORMAT || state.facts.sessionId !== sessionId || !isSameHead(state.head, fold.head)) return null;
  for await (const stored of store.entries(sessionId, { from: fold.head.seq }))
    return isSameHead(stored.entry, fold.head) && isEntryIntact(stored) ? { pin, state } : null;
  return null;
}

const isSameHead = (a: StoredFold['head'], b: StoredFold['head']): boolean => a.seq === b.seq && a.hash === b.hash;
