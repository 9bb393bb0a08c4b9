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

/** Reads a session's stored pin. A string instead of a pin gives the reason that it cannot be read. */
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
