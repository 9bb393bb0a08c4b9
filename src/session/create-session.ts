import { compileSpecTables } from '../compile/spec-tables.ts';
import { type SessionOpenBody, toBody } from '../evidence/bodies.ts';
import { isEntryIntact } from '../evidence/chain.ts';
import { type EvidenceStore, StoreError } from '../ports/evidence-store.ts';
import type { Inspector } from '../ports/inspector.ts';
import type { SessionParts } from './calls/session-parts.ts';
import { readStoredPin, type SessionPin, storePin } from './pin.ts';
import { Session } from './session.ts';
import { SessionWriter } from './session-writer.ts';
import { initialSessionState, type SessionState } from './state/session-state.ts';
import { readStoredState, type StoredState } from './state/stored-state.ts';

type Parts = Omit<SessionParts, 'compiled' | 'config'>;

export interface NewSession
  extends SessionPin,
    Pick<SessionOpenBody, 'agent' | 'root' | 'unsafeNoSandbox' | 'version' | 'parent'> {
  /** The delegation of the parent that started this session: the id of its entry, and the session id that it named. */
  readonly delegation?: { readonly entry: string; readonly session: string };
}

/** Opens a new session: pins the spec set and the configuration, and records the first entry. */
export async function createSession(
  parts: Parts,
  { specs, config, agent, root, unsafeNoSandbox, version, parent, delegation }: NewSession,
): Promise<Session> {
  const pin = await storePin(parts.store, { specs, config });
  const compiled = compileSpecTables(specs);
  const state = initialSessionState(compiled, delegation?.session ?? parts.ids.next('session'));
  const observer = await observerOf(parts.inspector, specs, state);
  const writer = new SessionWriter({ ...parts, ...observer, compiled, pin }, state);
  const sessionFields = { agent, root, pin, specHash: specs.hash, unsafeNoSandbox, version };
  const delegationFields = {
    ...(parent === undefined ? {} : { parent }),
    ...(delegation ? { delegation: delegation.entry } : {}),
  };
  await writer.append([{ event: 'session-open', ...sessionFields, ...delegationFields }]);
  return new Session({ ...parts, compiled, config }, writer);
}

/** The state from which a session is resumed, and its pin. */
export interface ResumePoint {
  /** The sha256 of the pin's blob. */
  readonly hash: string;
  readonly pin: SessionPin;
  /** null if the session must be folded from its first entry, because no valid state is stored. */
  readonly state: SessionState | null;
}

/**
 * Reads the state and the pin to resume a session from.
 * @throws StoreError `session-not-found`, `blob-not-found`; `store-failed` if entries were changed or removed
 */
export async function readResumePoint(store: EvidenceStore, sessionId: string): Promise<ResumePoint> {
  const opened = await openingOf(store, sessionId);
  const stored = await readStoredState(store, sessionId);
  if (stored === null) await assertKeptEntryExists(store, sessionId);
  const fits = stored !== null && isOpenedAs(stored, opened);
  return { hash: opened.pin, pin: await readStoredPin(store, opened.pin), state: fits ? stored.state : null };
}

/**
 * Resumes an existing session under the spec and config that it is pinned to; its state is folded from its evidence.
 * Opening only reads: the first call takes the lease. Throws StoreError `session-not-found`.
 *
 * @param point the resume point, if the caller has already found it
 */
export async function resumeSession(parts: Parts, sessionId: string, point?: ResumePoint): Promise<Session> {
  const { hash, pin, state: storedState } = point ?? (await readResumePoint(parts.store, sessionId));
  const { specs, config } = pin;
  const compiled = compileSpecTables(specs);
  const { onEntry, ...quiet } = parts;
  // An inspector must receive the session from its beginning.
  const state = (parts.inspector ? null : storedState) ?? initialSessionState(compiled, sessionId);
  const observer = await observerOf(parts.inspector, specs, state);
  let live = false;
  const writer = new SessionWriter(
    { ...quiet, ...observer, compiled, pin: hash, onEntry: (entry) => live && onEntry?.(entry) },
    state,
  );
  await writer.catchUp();
  live = true;
  return new Session({ ...parts, compiled, config }, writer);
}

/** The body of a session's first entry. Throws StoreError if it is missing, erased or altered. */
async function openingOf(store: EvidenceStore, sessionId: string): Promise<SessionOpenBody> {
  for await (const stored of store.entries(sessionId)) {
    const { entry } = stored;
    const body = toBody(entry.body);
    if (entry.body === null)
      throw new StoreError('session-not-found', `session "${sessionId}" was erased, so it cannot be resumed`);
    if (body?.event === 'session-open' && entry.seq === 0 && isEntryIntact(stored)) return body;
    throw new StoreError(
      'store-failed',
      `the first entry of session "${sessionId}" was changed, so it cannot be resumed; run "hopgate verify"`,
    );
  }
  throw new StoreError('session-not-found', `there is no session "${sessionId}"`);
}

/** Throws StoreError if the entry after which the store kept a state is gone or another. */
async function assertKeptEntryExists(store: EvidenceStore, sessionId: string): Promise<void> {
  const head = (await store.keptFold?.(sessionId))?.head;
  if (!head) return;
  for await (const { entry } of store.entries(sessionId, { from: head.seq })) {
    if (entry.seq === head.seq && entry.hash === head.hash) return;
    break;
  }
  throw new StoreError(
    'store-failed',
    `entry ${head.seq} of session "${sessionId}" was changed or removed, so it cannot be resumed; run "hopgate verify"`,
  );
}

/** True if a stored state has the agent, the root, the sandbox setting and the pin of the session's first entry. */
const isOpenedAs = ({ pin, state: { facts } }: StoredState, opened: SessionOpenBody): boolean =>
  pin === opened.pin &&
  facts.agent === opened.agent &&
  facts.root === opened.root &&
  facts.unsafeNoSandbox === opened.unsafeNoSandbox;

/** Returns an observer that reports to the inspector. The machines are loaded only if there is an inspector. */
async function observerOf(inspector: Inspector | undefined, specs: SessionPin['specs'], state: SessionState) {
  if (!inspector) return {};
  const { startSessionActors } = await import('./actors.ts');
  return { observer: startSessionActors(specs, state, inspector).observer };
}
