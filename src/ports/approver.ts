import type { Approval, ApprovalSubject } from '../gate/approvals/approval.ts';
import type { GrantLimits } from '../gate/approvals/grant.ts';

export interface ApprovalRequest extends ApprovalSubject {
  readonly agent: string;
  /** Sha256 of the RFC 8785 form of `version` ({@link APPROVAL_VERSION}) and {@link ApprovalSubject}. */
  readonly hash: string;
}

/** A person's yes to the request with this hash, valid once, until `expiresAt`. Text is never an approval. */
export interface ApprovalRecord extends Omit<Approval, 'expiresAt'> {
  readonly via: 'approver' | 'terminal' | 'operator-token' | 'grant';
  readonly grantedAt: string;
  readonly expiresAt: string;
}

/**
 * Port of the three sources of approvals: an in-process function, a terminal, and the operator's token. An approver may
 * read the session, but must not wait for a step, a hop or the end of the session: these run only after the call that
 * it answers. There is no time limit for an answer; the `signal` of a call ends its wait.
 */
export interface Approver {
  readonly via: ApprovalRecord['via'];
  /**
   * Asks for an approval, and returns the answer:
   *
   * - `by`: the person who approved. `minutes` is how long the approval is valid. A `grant` also covers later requests
   *   of the same action, within its limits.
   * - `declined`: the person who declined. `because` has that person's words for the agent.
   * - `pending`: the id under which the request can still be answered. The same request, made again after the answer,
   *   gets that answer.
   * - null: nobody answered.
   */
  approve(
    request: ApprovalRequest,
  ): Promise<
    | { readonly by: string; readonly minutes?: number; readonly grant?: GrantLimits }
    | { readonly pending: string }
    | { readonly declined: string; readonly because?: string }
    | null
  >;
}
