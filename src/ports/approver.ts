import type { Approval, ApprovalSubject } from '../gate/approvals/approval.ts';
import type { GrantLimits } from '../gate/approvals/grant.ts';

export interface ApprovalRequest extends ApprovalSubject {
  readonly agent: string;
  /** Sha256 of the RFC 8785 form of `version` (2) and {@link ApprovalSubject}. */
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
   * @returns the person who said yes (`by`; a `grant` also covers later requests of the same action within its limits),
   * the person who declined, with their words for the agent, the id under which the request can still be answered
   * (the same request, made again after the answer, gets it), or null if nobody answered
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
