import { toBody } from '../evidence/bodies.ts';
import { denySubAgentCall, findSubAgentPeripheral } from '../gate/delegation/decide-delegate.ts';
import { makeSubAgentPin, type SubAgentPin } from '../gate/delegation/sub-agent-pin.ts';
import type { Denial } from '../gate/denial.ts';
import { type EvidenceStore, StoreError } from '../ports/evidence-store.ts';
import { getOwn } from '../spec/names.ts';
import type { Delegate } from '../spec/types.ts';
import { type StepCall, toStepRequest } from './calls/gate-requests.ts';
import type { NewSession } from './create-session.ts';
import { readResumePoint } from './resume-point.ts';
import { type Session, sessionCallsOf } from './session.ts';
import type { RecordedDelegation } from './state/session-state.ts';

/** The values with which a sub-agent's session begins. */
interface SubAgent {
  /** The delegation that the session belongs to; null if the sub-agent works in its parent's peripheral. */
  readonly delegation: RecordedDelegation | null;
  /** The peripheral that the sub-agent works in; null if its parent is in none. */
  readonly peripheral: string | null;
  readonly pin: SubAgentPin;
}

/**
 * Returns the pin and the peripheral of a new sub-agent's session, and the newest delegation to the peripheral that the
 * sub-agent's type names. Without a delegation, the sub-agent works in its parent's peripheral.
 * @param isTaken true for the id of a sub-agent's session that has begun
 */
export function describeNewSubAgent(parent: Session, type: string, isTaken: (session: string) => boolean): SubAgent {
  const calls = sessionCallsOf(parent);
  const { config, compiled } = calls.parts;
  const { mode, visit } = calls.view();
  const to = findSubAgentPeripheral(calls.context(), type);
  const { delegations } = calls.writer.state.facts;
  const delegation = delegations.findLast((each) => each.to === to && !isTaken(each.session)) ?? null;
  const here = visit?.peripheral ?? null;
  const pin = makeSubAgentPin({ specs: compiled.specs, config, mode, peripheral: here }, delegation);
  return { delegation, peripheral: delegation?.to ?? here, pin };
}

/**
 * Returns the pin, the parent and the id of a sub-agent's session, as a recorded delegation limits them.
 * @throws StoreError `entry-not-found` if no such entry delegates to a sub-agent
 */
export async function readDelegatedSession(
  store: EvidenceStore,
  entry: string,
): Promise<SubAgentPin & Pick<NewSession, 'parent' | 'delegation'>> {
  const recorded = await store.get(entry);
  const body = recorded && toBody(recorded.entry.body);
  if (!recorded || body?.event !== 'delegation' || body.session === null)
    throw new StoreError('entry-not-found', `the store has no delegation "${entry}"; name one of Session.delegate`);
  const { sessionId: parent, mode } = recorded.entry;
  const { pin } = await readResumePoint(store, parent);
  const delegation = { entry, session: body.session };
  return { ...makeSubAgentPin({ ...pin, mode, peripheral: body.from }, body), parent, delegation };
}

/**
 * The refusal of a sub-agent's call because of the present state of its parent's session; null if there is none.
 * @param within `parent`: both peripherals limit the sub-agent; `own`: only its own peripheral does
 */
export const denyCallByParent = (parent: Session, call: StepCall, within: Delegate['within']): Denial | null =>
  denySubAgentCall(sessionCallsOf(parent).context(), toStepRequest(call), within);

/** The peripheral that a type of sub-agent names; null if a sub-agent of this type works in its parent's peripheral. */
export const peripheralOfSubAgent = (parent: Session, type: string): string | null =>
  findSubAgentPeripheral(sessionCallsOf(parent).context(), type);

/** True if the present peripheral lists peripherals for its sub-agents, or for agents of the agency. */
export const mayStartSubAgent = ({ specs, state }: Session): boolean =>
  getOwn(specs.peripherals, state.peripheral ?? '')?.delegates !== undefined;
