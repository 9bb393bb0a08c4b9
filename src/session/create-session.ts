import { compileSpecTables } from '../compile/spec-tables.ts';
import type { SessionOpenBody } from '../evidence/bodies.ts';
import { StoreError } from '../ports/evidence-store.ts';
import type { Inspector } from '../ports/inspector.ts';
import type { SessionParts } from './calls/session-parts.ts';
import { type SessionPin, storePin } from './pin.ts';
import { type ResumePoint, readResumePoint } from './resume-point.ts';
import { Session } from './session.ts';
import { SessionWriter } from './session-writer.ts';
import { initialSessionState, type SessionState } from './state/session-state.ts';

type Parts = Omit<SessionParts, 'compiled' | 'config'>;

export interface NewSession
  extends SessionPin,
    Pick<SessionOpenBody, 'agent' | 'root' | 'unsafeNoSandbox' | 'version' | 'parent'> {
  /**
   * The delegation of the parent that started this session: the id of its entry, and the session id that the entry
   * names.
   */
  readonly delegation?: { readonly entry: string; readonly session: string };
}

/**
 * Opens a new session: pins the spec set and the configuration, and records the first entry.
 * @throws StoreError `session-exists` if the store has a session of this id
 */
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
  await writer.append([{ event: 'session-open', ...sessionFields, ...delegationFields }]).catch((cause) => {
    if (!(cause instanceof StoreError) || cause.code !== 'lease-expired') throw cause;
    const { sessionId } = state.facts;
    throw new StoreError('session-exists', `the store has a session ${sessionId} already: use another id`, { cause });
  });
  return new Session({ ...parts, compiled, config }, writer);
}

/**
 * Resumes an existing session under the spec and config that it is pinned to; its state is folded from its evidence.
 * Opening only reads: the first call takes the lease. Throws StoreError `session-not-found`.
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

/** Returns an observer that reports to the inspector. The machines are loaded only if there is an inspector. */
async function observerOf(inspector: Inspector | undefined, specs: SessionPin['specs'], state: SessionState) {
  if (!inspector) return {};
  const { startSessionActors } = await import('./actors.ts');
  return { observer: startSessionActors(specs, state, inspector).observer };
}
