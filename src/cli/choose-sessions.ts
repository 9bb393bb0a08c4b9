import { type EvidenceStore, type SessionSummary, StoreError } from '../ports/evidence-store.ts';
import { readStoredPin, type SessionPin } from '../session/pin.ts';
import { CliError, type Io } from './io.ts';
import { findSession, withEvidence } from './open-store.ts';

/** The sessions with these ids or id prefixes; all sessions, oldest first, if no id is given. */
export async function chooseSessions(store: EvidenceStore, ids: readonly string[]): Promise<readonly SessionSummary[]> {
  const all = await store.sessions();
  return ids.length === 0 ? [...all].reverse() : ids.map((id) => findSession(all, id));
}

export const noSessionsError = (root: string): CliError =>
  new CliError('unknown-session', `${root} has no sessions yet`, 'Start one with "hopgate shell".');

/**
 * Opens the evidence of a repository for `use`, as {@link withEvidence} does.
 * @throws `none` if no session has been opened yet; default: CliError `unknown-session`
 */
export async function withExistingSessions<T>(
  io: Pick<Io, 'env'>,
  root: string,
  use: (store: EvidenceStore) => Promise<T>,
  access: 'read' | 'write' = 'read',
  none: Error = noSessionsError(root),
): Promise<T> {
  const wrapped = async (store: EvidenceStore) => ({ value: await use(store) });
  const done = await withEvidence<{ readonly value: T } | null>(root, io.env, null, wrapped, access);
  if (done === null) throw none;
  return done.value;
}

/** The session with this id, name or id prefix. Throws as {@link findSession} and {@link withExistingSessions} do. */
export const findSessionIn = (io: Pick<Io, 'env'>, root: string, id: string): Promise<SessionSummary> =>
  withExistingSessions(io, root, async (store) => findSession(await store.sessions(), id));

/** The order of each tool's parameters, from the spec sets that the sessions are pinned to. */
export async function readPinnedParameterOrder(
  store: EvidenceStore,
  sessions: readonly SessionSummary[],
): Promise<(tool: string) => readonly string[] | null> {
  const names = new Map<string, readonly string[]>();
  for (const session of sessions) {
    const pin = await readPinOrReason(store, session);
    // Without the order, arguments are printed as recorded; "verify" reports the broken pin.
    if (typeof pin === 'string') continue;
    for (const { id, parameters } of Object.values(pin.specs.tools))
      names.set(
        id,
        parameters.map(({ name }) => name),
      );
  }
  return (tool) => names.get(tool) ?? null;
}

/** Reads a session's stored pin. @throws CliError `no-pin` if it cannot be read */
export async function readPinOrThrow(store: EvidenceStore, session: SessionSummary): Promise<SessionPin> {
  const pin = await readPinOrReason(store, session);
  if (typeof pin !== 'string') return pin;
  throw new CliError('no-pin', `${session.sessionId}: ${pin}`, `Run "hopgate verify ${session.sessionId}".`);
}

/** Reads a session's stored pin. Returns the reason as a string if the pin cannot be read. */
export async function readPinOrReason(store: EvidenceStore, { pin }: SessionSummary): Promise<SessionPin | string> {
  try {
    return await readStoredPin(store, pin);
  } catch (error) {
    if (error instanceof StoreError || error instanceof SyntaxError) return error.message;
    throw error;
  }
}
