import { createHash } from 'node:crypto';
import type { EvidenceStore, SessionSummary } from '../ports/evidence-store.ts';
import type { Pin } from '../session/pin.ts';
import { CliError } from './io.ts';
import { findSession } from './open-store.ts';

/** The sessions that ids, or beginnings of them, name; all of them, oldest first, when none is named. */
export async function chosenSessions(store: EvidenceStore, ids: readonly string[]): Promise<readonly SessionSummary[]> {
  const all = await store.sessions();
  return ids.length === 0 ? [...all].reverse() : ids.map((id) => findSession(all, id));
}

/** There is nothing to read, though a session was asked for. */
export const noSessions = (root: string): CliError =>
  new CliError('unknown-session', `${root} has no sessions yet`, 'Start one with "hopgate run".');

/** What a session was pinned to, as it was stored; a text says why it cannot be had. */
export async function readPin(store: EvidenceStore, { pin }: SessionSummary): Promise<Pin | string> {
  const bytes = await store.getBlob(pin);
  if (bytes === null) return `the pinned spec ${pin} is gone`;
  if (createHash('sha256').update(bytes).digest('hex') !== pin) return `the pinned spec ${pin} was changed`;
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as Pin;
  } catch {
    return `the pinned spec ${pin} is no JSON`;
  }
}
