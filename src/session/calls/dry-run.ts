import { fieldsOf } from '../../base/json.ts';
import { decide } from '../../gate/decide.ts';
import type { Denial } from '../../gate/denial.ts';
import { denialOf, type StepRequest } from '../../gate/request.ts';
import type { ApprovalRequest } from '../../ports/approver.ts';
import type { Mode } from '../../spec/types.ts';
import type { HopOptions, ShortHop } from '../short-hop.ts';
import { type DelegateOptions, toDelegateRequest } from './delegate.ts';
import { type ModeOptions, type StepCall, toModeRequest, toStepRequest } from './gate-requests.ts';
import type { SessionCalls } from './session-calls.ts';
import { hopRequestOfSession } from './visit.ts';
import { observeTreeIfNeeded } from './working-tree.ts';

/** A call of a session that can be judged without being made. */
export type DryRunMove =
  | { readonly hop: HopOptions | ShortHop }
  | { readonly mode: ModeOptions }
  | { readonly step: StepCall }
  | { readonly delegate: DelegateOptions };

/** The members of any move; a move from plain JavaScript may have none of them. */
interface AnyMove {
  readonly hop?: HopOptions | ShortHop;
  readonly mode?: ModeOptions;
  readonly delegate?: DelegateOptions;
  readonly step: StepCall;
}

export const dryRunStep = (calls: SessionCalls, call: StepCall): Denial | null =>
  denialOf(decideDryRunStep(calls, call));

export function dryRunStepEnforced(calls: SessionCalls, call: StepCall): Denial | null {
  const decision = decideDryRunStep(calls, call);
  return decision.ok ? (decision.plan.overridden?.denial ?? null) : denialOf(decision);
}

export const dryRunMove = async (calls: SessionCalls, move: DryRunMove, from?: Mode): Promise<Denial | null> =>
  denialOf(await decideMove(calls, move, from));

const decideDryRunStep = (calls: SessionCalls, call: StepCall) =>
  decide({ ...calls.context(), view: calls.viewOfNextCall() }, toStepRequest(call));

export async function dryRunWantedApproval(
  calls: SessionCalls,
  move: DryRunMove,
  from?: Mode,
): Promise<ApprovalRequest | null> {
  const decision = await decideMove(calls, move, from);
  if (decision.ok || !decision.wanted || decision.wanted.grant) return null;
  const { subject, hash } = decision.wanted;
  return { ...subject, agent: calls.writer.state.facts.agent, hash };
}

const withBoundFiles = async (calls: SessionCalls, request: StepRequest): Promise<StepRequest> => ({
  ...request,
  ...(await calls.boundFiles(request)),
});

async function decideMove(calls: SessionCalls, move: DryRunMove, from?: Mode): Promise<ReturnType<typeof decide>> {
  await calls.idle;
  const { hop, mode, delegate, step } = fieldsOf(move) as unknown as AnyMove;
  const request = hop
    ? hopRequestOfSession(calls, hop)
    : mode
      ? toModeRequest(mode)
      : delegate
        ? toDelegateRequest(delegate)
        : await withBoundFiles(calls, toStepRequest(step));
  const review = request.kind === 'hop' ? await calls.review(request.fruit) : null;
  const tree =
    request.kind === 'hop' || request.kind === 'delegate' ? await observeTreeIfNeeded(calls, request) : undefined;
  const context = calls.contextWithReview(review, tree);
  const view = calls.viewOfNextCall(context.view);
  return decide({ ...context, view: from === undefined ? view : { ...view, mode: from } }, request);
}
