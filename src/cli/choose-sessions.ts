import { escapeInvisible, toShellWord } from '../base/text.ts';
import { type EvidenceStore, type SessionSummary, StoreError } from '../ports/evidence-store.ts';
import { formerRootOf } from '../project/trust-record.ts';
import { readStoredPin, type SessionPin } from '../session/pin.ts';
import { CliError, type Io, print, printRemark } from './io.ts';
import { findSession, withEvidence } from './open-store.ts';

/** The sessions with these ids or id prefixes; all sessions, oldest first, if no id is given. */
export async function chooseSessions(store: EvidenceStore, ids: readonly string[]): Promise<readonly SessionSummary[]> {
  const all = await store.sessions();
  return ids.length === 0 ? [...all].reverse() : ids.map((id) => findSession(all, id));
}

export const noSessionsError = ({ env }: Pick<Io, 'env'>, root: string): CliError =>
  new CliError(
    'unknown-session',
    `${root} has no sessions yet`,
    sessionsOfFormerRoot(root, env) ?? 'Start one with "hopgate shell".',
  );

/** Prints that there are no sessions, and where the sessions of a moved repository are. */
export function printNoSessions(io: Io, root: string): void {
  print(io, 'No sessions yet.');
  const former = sessionsOfFormerRoot(root, io.env);
  if (former !== null) printRemark(io, former);
}

function sessionsOfFormerRoot(root: string, env: Io['env']): string | null {
  const former = formerRootOf(root, env);
  if (former === null) return null;
  const word = escapeInvisible(toShellWord(former));
  return `If the repository was moved from ${word}, its sessions belong to that path: mkdir -p ${word} && hopgate sessions --root ${word}`;
}

/**
 * Opens the evidence of a repository for `use`, as {@link withEvidence} does.
 * @param none the error to throw if no session has been opened yet; default: CliError `unknown-session`
 */
export async function withExistingSessions<T>(
  io: Pick<Io, 'env'>,
  root: string,
  use: (store: EvidenceStore) => Promise<T>,
  access: 'read' | 'write' = 'read',
  none: Error = noSessionsError(io, root),
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
