import { assertArgument, hasMethods } from '../../base/assert-argument.ts';
import { rejectOnAbort } from '../../base/limited-wait.ts';
import { decide, type PlanOfRequest } from '../../gate/decide.ts';
import { makeDenial } from '../../gate/make-denial.ts';
import type {
  Decision,
  DelegateRequest,
  GateContext,
  HopRequest,
  ModeRequest,
  StepRequest,
} from '../../gate/request.ts';
import type { Approver } from '../../ports/approver.ts';
import { approveUnderGrant, askForApproval, type GivenApproval } from './ask-approval.ts';
import type { SessionCalls } from './session-calls.ts';
import { observeTreeIfNeeded } from './working-tree.ts';

export interface CallApprover {
  /** The approver of this call. Default: the session's own approver. */
  readonly approver?: Approver | null;
  /** Ends the wait for the approver's answer; the call is then refused with `approval-required`. */
  readonly signal?: AbortSignal | undefined;
}

interface ApprovableRequest<R> {
  /**
   * Returns the request, without an approval. It is a function, because the content that an approval binds may change
   * while a person answers.
   */
  readonly request: () => R;
  /** Computes the gate's context, which changes while a person answers. */
  readonly context?: () => GateContext;
  /** Observes the files and the tree again: they may have changed while a person answered. */
  readonly observeAgain?: () => Promise<void>;
}

/** Decides a request. If it only lacks an approval, uses a grant or asks the approver, and decides again. */
export async function decideRequest<R extends HopRequest | DelegateRequest | ModeRequest | StepRequest>(
  calls: SessionCalls,
  { request, context = () => calls.context(), observeAgain: again = async () => {} }: ApprovableRequest<R>,
  ask?: CallApprover | null,
): Promise<{ decision: Decision<PlanOfRequest<R>>; approval: GivenApproval | null }> {
  const { approver = calls.parts.approver, signal } = ask ?? {};
  const isSignal = signal === undefined || hasMethods(signal, 'addEventListener', 'throwIfAborted');
  assertArgument(isSignal, 'signal', 'an AbortSignal', signal);
  const { parts, writer } = calls;
  const { ids, clock } = parts;
  const approving = { ids, now: () => clock.now() };
  const decideWith = ({ approval }: GivenApproval) => decide<R>(context(), { ...request(), approval });
  const asked = request();
  const first = decide(context(), asked);
  if (first.ok || !first.wanted) return { decision: first, approval: null };
  const { wanted } = first;
  if (wanted.grant) {
    const approved = approveUnderGrant(wanted, wanted.grant, approving);
    return { decision: decideWith(approved), approval: approved };
  }
  const { agent } = writer.state.facts;
  const now = () => ({ ...calls.view(), blind: writer.state.facts.blind });
  const awaitAnswer = () => {
    const answered = askForApproval(approver!, wanted, agent, now, approving);
    if (!signal) return answered;
    return rejectOnAbort(answered, signal).catch((error) => {
      if (signal.aborted) return { answer: 'the call was aborted' };
      throw error;
    });
  };
  const answer = approver && (await writer.keepLeaseDuring(awaitAnswer));
  if (answer && 'approval' in answer) {
    await again();
    return { decision: decideWith(answer), approval: answer };
  }
  const { denial } = makeDenial(context(), 'approval-required', {
    ...first.denial.about,
    ...(answer ?? { answer: 'no approver is available' }),
    by: 'by' in asked ? asked.by : 'agent',
  });
  return { decision: { ok: false, denial, wanted: null }, approval: null };
}

/**
 * Decides a hop or a delegation as {@link decideRequest} does. Both may depend on the working tree, which is
 * observed before the decision and again after an answer.
 */
export async function decideRequestWithTree<R extends HopRequest | DelegateRequest>(
  calls: SessionCalls,
  request: R,
  ask: CallApprover | undefined,
  review: Awaited<ReturnType<SessionCalls['review']>> = null,
): Promise<{ decision: Decision<PlanOfRequest<R>>; approval: GivenApproval | null }> {
  let tree = await observeTreeIfNeeded(calls, request);
  return decideRequest(
    calls,
    {
      request: () => request,
      context: () => calls.contextWithReview(review, tree),
      observeAgain: async () => {
        tree = await observeTreeIfNeeded(calls, request);
      },
    },
    ask,
  );
}
