import { errorText, excerpt } from '../../base/text.ts';
import type { ApprovalBody, GrantBody } from '../../evidence/bodies.ts';
import { APPROVAL_VERSION, type Approval } from '../../gate/approvals/approval.ts';
import { approvalFieldsBound, type GrantLimits, type GrantView, grantProblem } from '../../gate/approvals/grant.ts';
import type { WantedApproval } from '../../gate/request.ts';
import type { SessionView } from '../../gate/session-view.ts';
import type { ApprovalRecord, Approver } from '../../ports/approver.ts';
import type { IdGenerator } from '../../ports/ids.ts';
import { grantViewOf } from '../state/apply-entry.ts';
import { assertApprover, readApproverAnswer } from './read-approver-answer.ts';

/** Validity of an approval in minutes, if the approver does not state one. */
const DEFAULT_MINUTES = 15;

export interface GivenApproval {
  readonly approval: Approval;
  readonly body: ApprovalBody;
  /** The entries to record: the grant, if the answer gave one, then the approval. */
  readonly bodies: readonly (GrantBody | ApprovalBody)[];
}

interface Parts {
  readonly ids: IdGenerator;
  readonly now: () => number;
}

/**
 * Asks a person for an approval. Returns the approval, the id of the request that still waits, the person who declined,
 * or the reason why there is no answer.
 */
export async function askForApproval(
  approver: Approver,
  needed: WantedApproval,
  agent: string,
  view: () => Pick<SessionView, 'now' | 'changes' | 'blind'>,
  parts: Parts,
): Promise<
  | GivenApproval
  | { readonly pending: string }
  | { readonly declined: string; readonly because?: string }
  | { readonly answer: string }
> {
  const { subject, hash } = needed;
  assertApprover(approver);
  let given: unknown;
  try {
    // A copy, so that the approver cannot change the recorded request.
    given = await approver.approve(structuredClone({ ...subject, agent, hash }));
  } catch (error) {
    return { answer: `the approver failed: ${excerpt(errorText(error), 200)}` };
  }
  const answer = readApproverAnswer(given);
  if (!answer) return { answer: 'the approver gave no answer' };
  if ('pending' in answer || 'declined' in answer) return answer;
  const { by, minutes, grant: limits } = answer;
  const { via } = approver;
  const begun = limits && beginGrant(needed, { by, via, limits }, parts);
  // A grant whose limits do not cover the request itself is not given; the request is only approved.
  const grant = begun && grantProblem(grantViewOf(begun), subject, view()) === null ? begun : null;
  return givenApproval(
    needed,
    { by, via, minutes: minutes ?? DEFAULT_MINUTES, grant: grant?.id ?? null },
    parts,
    grant,
  );
}

/** Approves a request under the grant that covers it. */
export const approveUnderGrant = (needed: WantedApproval, { id, by }: GrantView, parts: Parts): GivenApproval => {
  const under = givenApproval(needed, { by, via: 'grant', minutes: DEFAULT_MINUTES, grant: id }, parts, null);
  return { ...under, approval: { ...under.approval, grant: id } };
};

function beginGrant(
  { subject }: WantedApproval,
  { by, via, limits }: { readonly by: string; readonly via: Approver['via']; readonly limits: GrantLimits },
  { ids, now }: Parts,
): GrantBody {
  return {
    event: 'grant',
    id: ids.next('grant'),
    by,
    via,
    grantedAt: new Date(now()).toISOString(),
    action: { ...subject.action },
    bound: approvalFieldsBound(subject),
    limits: { ...limits },
  };
}

function givenApproval(
  { subject, hash }: WantedApproval,
  how: Pick<ApprovalRecord, 'by' | 'via'> & { readonly minutes: number; readonly grant: string | null },
  { ids, now }: Parts,
  begun: GrantBody | null,
): GivenApproval {
  const at = now();
  const expires = at + how.minutes * 60_000;
  const record: ApprovalBody['record'] = {
    id: ids.next('approval'),
    nonce: ids.next('approval'),
    sessionId: subject.sessionId,
    requestHash: hash,
    by: how.by,
    via: how.via,
    grantedAt: new Date(at).toISOString(),
    expiresAt: new Date(expires).toISOString(),
    ...(how.grant === null ? {} : { grant: how.grant }),
  };
  const { id, nonce, sessionId, requestHash, by } = record;
  const body: ApprovalBody = {
    event: 'approval',
    record,
    request: {
      version: APPROVAL_VERSION,
      action: { ...subject.action },
      reason: subject.reason,
      view: { ...subject.view },
    },
  };
  return {
    approval: { id, nonce, sessionId, requestHash, by, expiresAt: expires },
    body,
    bodies: begun ? [begun, body] : [body],
  };
}
