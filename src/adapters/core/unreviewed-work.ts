import { type Fields, fieldsOf } from '../../base/json.ts';
import type { Session } from '../../session/session.ts';
import { isReflectPeripheral } from '../../session/state/drafts.ts';
import { takesCommandArgument } from '../../spec/policy/argument-roles.ts';
import { readRequestedHop, requestedModeChanges } from './calls/control-calls.ts';
import type { ConversationRecord } from './hook-context.ts';
import { readSituation } from './situation.ts';

export interface UnreviewedWork {
  /** The peripheral that the session is in; null if it is outside. */
  readonly peripheral: string | null;
  /** Arguments of the `hop` to a reflecting peripheral; null if it is impossible here or needs more than these. */
  readonly hop: Fields | null;
}

/** The key of the note that stores the number of evidence entries at the beginning of the user's turn. */
const TURN = 'turnBegan';

/** The note to record when a prompt of the user begins a turn. Work before the turn is not counted. */
export const makeTurnBeginNote = async (session: Session): Promise<ConversationRecord['notes']> => ({
  [TURN]: (await session.evidence()).length,
});

/** This turn's work that deserves a review; null if there is none, or if the session is closed or reflecting. */
export async function findUnreviewedWork(
  session: Session,
  notes: ConversationRecord['notes'],
): Promise<UnreviewedWork | null> {
  const { closed, peripheral } = session.state;
  const from = notes[TURN];
  if (closed || isReflective(session, peripheral)) return null;
  if (!(await isWorthReview(session, typeof from === 'number' ? from : 0))) return null;
  const exits = readSituation(session).exits.filter(({ to }) => isReflective(session, to));
  // Prefers the exit `hop-…`, because it claims no fact.
  const byPreference = exits.toSorted((a, b) => Number(b.exit === `hop-${b.to}`) - Number(a.exit === `hop-${a.to}`));
  for (const { call } of byPreference) if (await needsNoPerson(session, call)) return { peripheral, hop: call };
  return { peripheral, hop: null };
}

/** True if the session would allow the hop, and the mode changes that it requests, without asking a person. */
async function needsNoPerson(session: Session, call: Fields): Promise<boolean> {
  const modes = requestedModeChanges(call, session);
  for (const { from, ...mode } of modes) if (await session.whyMove({ mode }, from)) return false;
  return (
    session.state.peripheral === null || !(await session.whyMove({ hop: readRequestedHop(call) }, modes.at(-1)?.to))
  );
}

const isReflective = ({ specs }: Session, peripheral: string | null): boolean =>
  isReflectPeripheral(specs.peripherals[peripheral ?? '']);

/** True if an acting tool changed something since entry `from`. Only acting tools leave an outcome entry. */
async function isWorthReview(session: Session, from: number): Promise<boolean> {
  const bodies = (await session.evidence()).map(({ body }) => fieldsOf(body));
  if (bodies.some(({ event }) => event === 'par')) return false;
  return bodies.slice(from).some(({ event, outcome, tool, effects }) => {
    if (event !== 'outcome' || fieldsOf(outcome)['status'] !== 'ok') return false;
    const isCommand = takesCommandArgument(session.tool(String(tool)));
    return !isCommand || !Array.isArray(effects) || effects.length > 0;
  });
}
