import manifest from '../../../package.json' with { type: 'json' };
import { isIntact } from '../../evidence/chain.ts';
import type { EvidenceStore, KeptFold } from '../../ports/evidence-store.ts';
import type { SessionState } from './state.ts';

/** Raise the number where the fold makes something else of an entry: what was kept before counts for nothing then. */
const FORMAT = `${manifest.version} 3`;

/** A session's state, and what it is pinned to. */
export interface KeptState {
  readonly pin: string;
  readonly state: SessionState;
}

/** A state as the store keeps it. */
export const foldOf = ({ pin, state }: KeptState): KeptFold => ({
  head: state.head,
  text: JSON.stringify({ format: FORMAT, pin, state }),
});

/**
 * The state of a session that was kept when it was last let go of. null if there is none that fits: it was kept by another version, or the chain has
 * another entry where it stands, or one whose bytes are not those that were hashed. Then the session is folded from its first entry.
 */
export async function keptState(store: EvidenceStore, sessionId: string): Promise<KeptState | null> {
  const kept = await store.keptFold?.(sessionId);
  if (!kept) return null;
  const { format, pin, state } = JSON.parse(kept.text) as KeptState & { readonly format: string };
  if (format !== FORMAT || state.facts.sessionId !== sessionId || !isSame(state.head, kept.head)) return null;
  for await (const stored of store.entries(sessionId, { from: kept.head.seq }))
    return isSame(stored.entry, kept.head) && isIntact(stored) ? { pin, state } : null;
  return null;
}

const isSame = (a: KeptFold['head'], b: KeptFold['head']): boolean => a.seq === b.seq && a.hash === b.hash;
