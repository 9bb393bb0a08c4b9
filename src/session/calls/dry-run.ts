import { decide } from '../../gate/decide.ts';
import type { Denial } from '../../gate/denial.ts';
import type { ApprovalRequest } from '../../ports/approver.ts';
import type { Mode } from '../../spec/types.ts';
import { toText } from '../convert-input.ts';
import type { HopOptions, ShortHop } from '../short-hop.ts';
import { type DelegateOptions, delegateRequest } from './delegate.ts';
import { type ModeOptions, modeRequest, type StepCall, stepRequest } from './gate-requests.ts';
import type { SessionCalls } from './session-calls.ts';
import { hopRequestFor } from './visit.ts';
import { treeForRequest } from './working-tree.ts';

/** A call of a session that can be judged without being made. */
export type SessionMove =
  | { readonly hop: HopOptions | ShortHop }
  | { readonly mode: ModeOptions }
  | { readonly step: StepCall }
  | { readonly delegate: DelegateOptions };

/** See `Session.why`. */
export function stepDenial(calls: SessionCalls, call: StepCall): Denial | null {
  const decision = decide(calls.context(), stepRequest(call));
  return decision.ok ? null : decision.denial;
}

/** See `Session.wouldRefuse`. */
export function enforcedDenial(calls: SessionCalls, call: StepCall): Denial | null {
  const decision = decide(calls.context(), stepRequest(call));
  return decision.ok ? (decision.plan.overridden?.denial ?? null) : decision.denial;
}

/** See `Session.whyMove`. */
export async function moveDenial(calls: SessionCalls, move: SessionMove, from?: Mode): Promise<Denial | null> {
  const decision = await decideMove(calls, move, from);
  return decision.ok ? null : decision.denial;
}

/** See `Session.wants`. */
export async function wantedApproval(
  calls: SessionCalls,
  move: SessionMove,
  from?: Mode,
): Promise<ApprovalRequest | null> {
  const decision = await decideMove(calls, move, from);
  if (decision.ok || !decision.wanted || decision.wanted.grant) return null;
  const { subject, hash } = decision.wanted;
  return { ...subject, agent: calls.writer.state.facts.agent, hash };
}

async function decideMove(calls: SessionCalls, move: SessionMove, from?: Mode): Promise<ReturnType<typeof decide>> {
  await calls.idle;
  const request =
    'hop' in move
      ? hopRequestFor(calls, move.hop)
      : 'mode' in move
        ? modeRequest(move.mode)
        : 'delegate' in move
          ? delegateRequest(move.delegate)
          : { ...stepRequest(move.step), ...(await calls.lockFiles(toText(move.step.tool))) };
  const review = request.kind === 'hop' ? await calls.review(request.fruit) : null;
  const tree = request.kind === 'hop' || request.kind === 'delegate' ? await treeForRequest(calls, request) : undefined;
  const context = calls.contextWithReview(review, tree);
  const { view } = context;
  return decide(from === undefined ? context : { ...context, view: { ...view, mode: from } }, request);
}
