import { randomInt } from 'node:crypto';
import { isObject } from '../base/json.ts';
import { valueOr } from '../base/value-or.ts';
import { APPROVAL_KINDS, approvalHash } from '../gate/approvals/approval.ts';
import type { ApprovalRequest } from '../ports/approver.ts';
import { isSha256Hex } from './signed-answer.ts';

/** The time that a request waits for its answer, in milliseconds. */
export const REQUEST_LIFETIME_MS = 24 * 60 * 60_000;

/** A request that waits for the operator, as stored in its file. */
export interface PendingRequest {
  readonly version: 1;
  /** The id that the operator types: six letters and digits. */
  readonly id: string;
  /** Absolute real path of the repository. */
  readonly root: string;
  /** Epoch milliseconds; no two waiting requests of one repository have the same. */
  readonly askedAt: number;
  readonly expiresAt: number;
  /** The process that alone can use the answer ({@link nameLeaseHolder}); absent if any process can use it. */
  readonly holder?: string;
  readonly request: ApprovalRequest;
}

// Letters and digits of a request's id, without those that are easily confused.
const LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789';

export function newRequestId(taken: readonly string[]): string {
  for (;;) {
    const id = Array.from({ length: 6 }, () => LETTERS[randomInt(LETTERS.length)]).join('');
    if (!taken.includes(id)) return id;
  }
}

/**
 * Parses a pending request; null if its hash does not fit the content that is shown, because a person approves the
 * content that they read.
 */
export function parsePendingRequest(value: unknown): PendingRequest | null {
  if (!isObject(value)) return null;
  const { version, id, root, askedAt, expiresAt, holder, request } = value;
  if (version !== 1 || typeof id !== 'string' || !/^[a-z2-9]{6}$/.test(id) || typeof root !== 'string') return null;
  if (!Number.isSafeInteger(askedAt) || !Number.isSafeInteger(expiresAt) || !isObject(request)) return null;
  if (holder !== undefined && typeof holder !== 'string') return null;
  const { sessionId, agent, action, reason, view, hash } = request;
  if (![sessionId, agent, reason].every((text) => typeof text === 'string') || !isSha256Hex(hash)) return null;
  if (!isObject(action) || !isObject(view) || !isAction(action)) return null;
  const pending = value as unknown as PendingRequest;
  // Null if the request has no RFC 8785 form.
  return valueOr(() => approvalHash(pending.request), null) === hash ? pending : null;
}

const isAction = ({ kind, from, exit, to, ...more }: { readonly [name: string]: unknown }): boolean =>
  Object.keys(more).length === 0 &&
  typeof from === 'string' &&
  typeof to === 'string' &&
  APPROVAL_KINDS.some((known) => known === kind) &&
  (kind === 'hop' ? typeof exit === 'string' : exit === undefined);
