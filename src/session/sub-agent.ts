import { delegateAsked } from '../../gate/delegation/decide-delegate.ts';
import { type SubAgentPin, subAgentPin } from '../../gate/delegation/sub-agent-pin.ts';
import type { Delegation } from '../state/state.ts';
import type { SessionCalls } from './session-calls.ts';

/** The beginning of a sub-agent's session. */
export interface SubAgent {
  /** null if it works in its parent's peripheral. */
  readonly delegation: Delegation | null;
  /** null if its parent is in none. */
  readonly peripheral: string | null;
  readonly pin: SubAgentPin;
}

/** The beginning of the session of a sub-agent of this type; see `Session.subAgent`. */
export function subAgent(calls: SessionCalls, type: string, isTaken: (session: string) => boolean): SubAgent {
  const { config, compiled } = calls.parts;
  const { mode, visit } = calls.view();
  const to = delegateAsked(calls.context(), type);
  const { delegations } = calls.writer.state.facts;
  const delegation = delegations.findLast((each) => each.to === to && !isTaken(each.session)) ?? null;
  const here = visit?.peripheral ?? null;
  const pin = subAgentPin({ specs: compiled.specs, config, mode, peripheral: here }, delegation);
  return { delegation, peripheral: delegation?.to ?? here, pin };
}
