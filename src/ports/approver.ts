import type { Json } from '../spec/types.ts';

/** What exactly is to be approved. `hash` is sha256 of the RFC 8785 form of `sessionId`, `action`, `reason` and `view`. */
export interface ApprovalRequest {
  readonly sessionId: string;
  readonly agent: string;
  readonly action:
    | { readonly kind: 'hop'; readonly from: string; readonly exit: string; readonly to: string }
    | { readonly kind: 'mode'; readonly from: string; readonly to: string };
  readonly reason: string;
  /** What the person is shown besides: the diff and commit message for a deploy, the fruit, the exit criteria. */
  readonly view: { readonly [title: string]: Json };
  readonly hash: string;
}

/** An approval. Text is never one; a record is valid for one use, for the request whose hash it names, until `expiresAt`. */
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
 * The three ways an approval comes to be (design §7) all implement this. null: nobody answered. `declined`: somebody said no, and
 * this is who. `pending`: it can still be answered, under this id; the same request, made again then, finds the answer.
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
