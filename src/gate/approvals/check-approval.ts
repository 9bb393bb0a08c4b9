import type { Denial } from '../denial.ts';
import { makeDenial } from '../make-denial.ts';
import type { GateContext, Refusal } from '../request.ts';
import { type Approval, type ApprovalAction, type ApprovalSubject, approvalHash, approvalProblem } from './approval.ts';
import { findCoveringGrant, grantProblem } from './grant.ts';

/**
 * Checks the approval of a request; null if it is valid. Without an approval, returns the refusal, whose `wanted`
 * describes the missing one; if a grant of the operator covers the request, `wanted.grant` is that grant. Called last,
 * so that no person is asked for a request that would be refused anyway.
 */
export function checkApproval(
  context: GateContext,
  action: ApprovalAction,
  request: { readonly reason?: string; readonly approval?: Approval },
  approvalView: ApprovalSubject['view'],
): Refusal | null {
  const { view } = context;
  const subject: ApprovalSubject = {
    sessionId: view.sessionId,
    action,
    reason: request.reason ?? '',
    view: approvalView,
  };
  const requestHash = approvalHash(subject);
  const what = titleOf(action);
  if (!request.approval) {
    const refusal = makeDenial(context, 'approval-required', { what, ...actionAbout(action) });
    const grant = findCoveringGrant(view.grants ?? [], subject, view);
    return { ...refusal, wanted: { subject, hash: requestHash, ...(grant ? { grant } : {}) } };
  }
  const { approval } = request;
  const problem =
    approvalProblem(approval, { sessionId: view.sessionId, requestHash }, view.now, view.usedNonces) ??
    namedGrantProblem(context, approval.grant, subject);
  return problem ? makeDenial(context, 'approval-invalid', { what, why: problem, ...actionAbout(action) }) : null;
}

/** The reason why the grant that an approval names does not cover the request; null if it does or no grant is named. */
function namedGrantProblem({ view }: GateContext, id: string | undefined, subject: ApprovalSubject): string | null {
  if (id === undefined) return null;
  const grant = view.grants?.find((each) => each.id === id);
  return grant ? grantProblem(grant, subject, view) : `there is no grant ${id}`;
}

function titleOf({ kind, from, to }: ApprovalAction): string {
  if (kind === 'hop') return `the hop from ${from} to ${to}`;
  if (kind === 'delegate') return `the start of a sub-agent in ${to} from ${from}`;
  return kind === 'mode' ? `mode ${to}` : `${to} in ${from}`;
}

const actionAbout = (action: ApprovalAction): Denial['about'] =>
  action.kind === 'hop'
    ? { from: action.from, exit: action.exit, to: action.to }
    : action.kind === 'delegate'
      ? { from: action.from, to: action.to }
      : action.kind === 'mode'
        ? { mode: action.from, to: action.to }
        : { peripheral: action.from, tool: action.to };
