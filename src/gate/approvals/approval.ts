import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { Fields } from '../../spec/types.ts';

/** The kinds of action that can need an approval. */
export const APPROVAL_KINDS = ['hop', 'mode', 'step', 'delegate'] as const;

/**
 * The action that an approval is for: one hop, one mode change, one call of the tool `to` in the peripheral `from`, or
 * one start of a sub-agent.
 */
export type ApprovalAction =
  | { readonly kind: 'hop'; readonly from: string; readonly exit: string; readonly to: string }
  | { readonly kind: Exclude<(typeof APPROVAL_KINDS)[number], 'hop'>; readonly from: string; readonly to: string };

/** The request to be approved. An approval names the request by its hash. */
export interface ApprovalSubject {
  readonly sessionId: string;
  readonly action: ApprovalAction;
  readonly reason: string;
  /** The data that the person sees: the diff and commit message for a deploy, the fruit, the exit criteria. */
  readonly view: Fields;
}

/** An approval, as the gate judges it. Times are epoch milliseconds. */
export interface Approval {
  readonly id: string;
  readonly nonce: string;
  readonly sessionId: string;
  readonly requestHash: string;
  readonly by: string;
  readonly expiresAt: number;
  /** The id of the grant that the approval was given under; absent if a person approved this one request. */
  readonly grant?: string;
}

/**
 * The version of the hashed form. Version 3 includes the files that a call names. Version 2 includes the tested and the
 * shipped tree. Version 1 has no version field.
 */
export const APPROVAL_VERSION = 3;

/** sha256 (hex) of the RFC 8785 form of the subject and the version. */
export function approvalHash(subject: ApprovalSubject): string {
  const { sessionId, action, reason, view } = subject;
  return hash('sha256', canonicalize({ version: APPROVAL_VERSION, sessionId, action, reason, view }) ?? '');
}

/**
 * The reason why an approval does not cover a request; null if it does. An approval is valid for one use, one session
 * and one request, until it expires.
 */
export function approvalProblem(
  approval: Approval,
  request: { readonly sessionId: string; readonly requestHash: string },
  now: number,
  usedNonces: readonly string[],
): string | null {
  if (approval.sessionId !== request.sessionId) return 'the approval was given for another session';
  if (approval.requestHash !== request.requestHash)
    return 'the approval was given for another request (the hash differs)';
  if (now >= approval.expiresAt) return 'the approval has expired';
  if (usedNonces.includes(approval.nonce)) return 'the approval was used before; an approval is valid once';
  return null;
}
