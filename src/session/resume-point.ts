import { compileSpecTables, type SpecTables } from '../compile/spec-tables.ts';
import { type SessionOpenBody, toBody } from '../evidence/bodies.ts';
import { isEntryIntact } from '../evidence/chain.ts';
import { type EvidenceStore, StoreError } from '../ports/evidence-store.ts';
import { readStoredPin, type SessionPin } from './pin.ts';
import { FoldError } from './state/apply-entry.ts';
import { foldToEnd } from './state/fold-entries.ts';
import { initialSessionState, type SessionState } from './state/session-state.ts';
import { readStoredState, type StoredState } from './state/stored-state.ts';

/** The state from which a session is resumed, and its pin. */
export interface ResumePoint {
  /** Sha256 of the pinned specs and configuration, as the store holds them. */
  readonly hash: string;
  readonly pin: SessionPin;
  /** null if the session must be folded from its first entry, because no valid state is stored. */
  readonly state: SessionState | null;
}

/**
 * Reads the state and the pin to resume a session from.
 * @throws StoreError `session-not-found`, `blob-not-found`; FoldError if entries were changed or removed
 */
export async function readResumePoint(store: EvidenceStore, sessionId: string): Promise<ResumePoint> {
  const opened = await openingOf(store, sessionId);
  const stored = await readStoredState(store, sessionId);
  if (stored === null) await assertKeptEntryExists(store, sessionId);
  const fits = stored !== null && isOpenedAs(stored, opened);
  return { hash: opened.pin, pin: await readStoredPin(store, opened.pin), state: fits ? stored.state : null };
}

export interface SessionWithState {
  readonly pin: SessionPin;
  readonly tables: SpecTables;
  readonly state: SessionState;
}

/**
 * Reads a session's pin and its present state, without a lease.
 * @throws StoreError as {@link readResumePoint}; FoldError as `foldEntries`
 */
export async function readSessionState(store: EvidenceStore, sessionId: string): Promise<SessionWithState> {
  const { pin, state } = await readResumePoint(store, sessionId);
  const tables = compileSpecTables(pin.specs);
  return { pin, tables, state: await foldToEnd(store, tables, state ?? initialSessionState(tables, sessionId)) };
}

/** The body of a session's first entry. Throws StoreError if it is missing, erased or altered. */
async function openingOf(store: EvidenceStore, sessionId: string): Promise<SessionOpenBody> {
  for await (const stored of store.entries(sessionId)) {
    const { entry } = stored;
    const body = toBody(entry.body);
    if (entry.body === null)
      throw new StoreError('session-not-found', `session "${sessionId}" was erased, so it cannot be resumed`);
    if (body?.event === 'session-open' && entry.seq === 0 && isEntryIntact(stored)) return body;
    if (body !== null && entry.seq === 0 && isEntryIntact(stored))
      throw new StoreError('session-not-found', `session "${sessionId}" was imported, so it cannot be resumed`);
    throw new FoldError(
      `the first entry of session "${sessionId}" was changed, so it cannot be resumed; run "hopgate verify"`,
    );
  }
  throw new StoreError('session-not-found', `there is no session "${sessionId}"`);
}

/** Throws FoldError if the entry after which the store kept a state is gone or was replaced by another entry. */
async function assertKeptEntryExists(store: EvidenceStore, sessionId: string): Promise<void> {
  const head = (await store.keptFold?.(sessionId))?.head;
  if (!head) return;
  for await (const { entry } of store.entries(sessionId, { from: head.seq })) {
    if (entry.seq === head.seq && entry.hash === head.hash) return;
    break;
  }
  throw new FoldError(
    `entry ${head.seq} of session "${sessionId}" was changed or removed, so it cannot be resumed; run "hopgate verify"`,
  );
}

/** True if a stored state has the agent, the root, the sandbox setting and the pin of the session's first entry. */
const isOpenedAs = ({ pin, state: { facts } }: StoredState, opened: SessionOpenBody): boolean =>
  pin === opened.pin &&
  facts.agent === opened.agent &&
  facts.root === opened.root &&
  facts.unsafeNoSandbox === opened.unsafeNoSandbox;
