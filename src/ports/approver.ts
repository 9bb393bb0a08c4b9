import type { Json } from '../spec/types.ts';

/** A request for approval. `hash` is sha256 of the RFC 8785 form of `version` (2), `sessionId`, `action`, `reason` and `view`. */
export interface ApprovalRequest {
  readonly sessionId: string;
  readonly agent: string;
  readonly action:
    | { readonly kind: 'hop'; readonly from: string; readonly exit: string; readonly to: string }
    | { readonly kind: 'mode'; readonly from: string; readonly to: string };
  readonly reason: string;
  /** Further data that the person sees: the diff and commit message for a deploy, the fruit, the exit criteria. */
  readonly view: { readonly [title: string]: Json };
  readonly hash: string;
}

/**
 * An approval. Text is never one; a record is valid for one use, for the request whose hash it names, until
 * `expiresAt`.
 */
export interface ApprovalRecord {
  readonly id: string;
  readonly nonce: string;
  readonly sessionId: string;
  readonly requestHash: string;
  readonly by: string;
  readonly via: 'approver' | 'terminal' | 'operator-token';
  readonly grantedAt: string;
  readonly expiresAt: string;
}

/**
 * Port of the three sources of approvals: an in-process function, a terminal, and the operator's token. Returns null if
 * nobody answered. `declined`: the person who said no. `pending`: the id under which it can still be answered; the same
 * request finds the answer later.
 */
export interface Approver {
  readonly via: ApprovalRecord['via'];
  approve(
    request: ApprovalRequest,
  ): Promise<
    | { readonly by: string; readonly minutes?: number }
    | { readonly pending: string }
    | { readonly declined: string }
    | null
  >;
}
