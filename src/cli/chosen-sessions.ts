import { createHash } from 'node:crypto';
import type { EvidenceStore, SessionSummary } from '../ports/evidence-store.ts';
import type { Pin } from '../session/pin.ts';
import { CliError } from './io.ts';
import { findSession } from './open-store.ts';

/** The sessions with these ids or id prefixes; all sessions, oldest first, if no id is given. */
export async function chosenSessions(store: EvidenceStore, ids: readonly string[]): Promise<readonly SessionSummary[]> {
  const all = await store.sessions();
  return ids.length === 0 ? [...all].reverse() : ids.map((id) => findSession(all, id));
}

/** The error if a command needs a session and the repository has none. */
export const noSessions = (root: string): CliError =>
  new CliError('unknown-session', `${root} has no sessions yet`, 'Start one with "hopgate run".');

/** The order of each tool's parameters in the pinned specs of sessions. */
export async function pinnedOrder(
  store: EvidenceStore,
  sessions: readonly SessionSummary[],
): Promise<(tool: string) => readonly string[] | null> {
  const names = new Map<string, readonly string[]>();
  for (const session of sessions) {
    const pin = await readPin(store, session);
    if (typeof pin === 'string') continue; // continue without an order; "verify" reports a broken pin
    for (const { id, parameters } of Object.values(pin.specs.tools))
      names.set(
        id,
        parameters.map(({ name }) => name),
      );
  }
  return (tool) => names.get(tool) ?? null;
}

/** The stored pin of a session that a command cannot do without. */
export async function pinOf(store: EvidenceStore, session: SessionSummary): Promise<Pin> {
  const pin = await readPin(store, session);
  if (typeof pin !== 'string') return pin;
  throw new CliError('no-pin', `${session.sessionId}: ${pin}`, `Run "hopgate verify ${session.sessionId}".`);
}

/** Reads a session's stored pin. Returns the reason as a string if the pin cannot be read. */
export async function readPin(store: EvidenceStore, { pin }: SessionSummary): Promise<Pin | string> {
  const bytes = await store.getBlob(pin);
  if (bytes === null) return `the pinned spec ${pin} is gone`;
  if (createHash('sha256').update(bytes).digest('hex') !== pin) return `the pinned spec ${pin} was changed`;
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as Pin;
  } catch {
    return `the pinned spec ${pin} is not JSON`;
  }
}
