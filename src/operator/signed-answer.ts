import { createHmac, timingSafeEqual } from 'node:crypto';
import { asJson, isObject } from '../base/json.ts';
import { canonicalJson } from '../evidence/canonical.ts';
import { type GrantLimits, isGrantLimits } from '../gate/approvals/grant.ts';

/** The operator's answer to one request. Times are epoch milliseconds. */
export interface AnswerTerms {
  readonly verdict: 'yes' | 'no';
  readonly sessionId: string;
  /** Hash of the request; the answer is valid only for it. */
  readonly requestHash: string;
  readonly by: string;
  /** The operator's reason for a no, for the agent. */
  readonly reason?: string;
  /** With a yes: the answer also covers later requests of the same action, within these limits. */
  readonly grant?: GrantLimits;
  /** A name under which the answer is marked as used. */
  readonly nonce: string;
  readonly givenAt: number;
  readonly expiresAt: number;
}

/** An answer as stored in a file: the terms, and the proof that a holder of the operator's token wrote them. */
export interface SignedAnswer extends AnswerTerms {
  readonly version: 1;
  /** HMAC-SHA256 (hex) with the token, over the RFC 8785 form of the terms. */
  readonly mac: string;
}

export function signAnswer(terms: AnswerTerms, token: string): SignedAnswer {
  const { verdict, sessionId, requestHash, by, reason, grant, nonce, givenAt, expiresAt } = terms;
  const optional = { ...(reason === undefined ? {} : { reason }), ...(grant === undefined ? {} : { grant }) };
  const unsigned = { version: 1 as const, verdict, sessionId, requestHash, by, ...optional, nonce, givenAt, expiresAt };
  return { ...unsigned, mac: macOf(unsigned, token).toString('hex') };
}

/** Parses an answer without a check of its proof; null if its shape differs in any way. */
export function parseAnswer(value: unknown): SignedAnswer | null {
  if (!isObject(value)) return null;
  const fields = value as { readonly [name: string]: unknown };
  const { reason = '', grant, ...others } = fields;
  if (Object.keys(others).sort().join() !== NAMES) return null;
  const { version, verdict, sessionId, requestHash, by, nonce, givenAt, expiresAt, mac } = fields;
  const texts = [sessionId, by, reason].every((text) => typeof text === 'string' && text.isWellFormed());
  const times = [givenAt, expiresAt].every((time) => Number.isSafeInteger(time));
  const fits =
    version === 1 &&
    (verdict === 'yes' || verdict === 'no') &&
    texts &&
    times &&
    (grant === undefined || (verdict === 'yes' && isGrantLimits(grant))) &&
    isSha256Hex(requestHash) &&
    typeof nonce === 'string' &&
    /^[0-9a-f]{32}$/.test(nonce) &&
    isSha256Hex(mac);
  return fits ? (fields as unknown as SignedAnswer) : null;
}

const NAMES = 'by,expiresAt,givenAt,mac,nonce,requestHash,sessionId,verdict,version';

export const isSha256Hex = (value: unknown): value is string =>
  typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);

/** Explains why an answer is not valid for a request; null if it is. `ApprovalsFolder.claim` checks the single use. */
export function problemOfAnswer(
  { mac, ...unsigned }: SignedAnswer,
  request: { readonly sessionId: string; readonly hash: string },
  token: string,
  now: number,
): string | null {
  if (!timingSafeEqual(macOf(unsigned, token), Buffer.from(mac, 'hex')))
    return "it was not made with the operator's token";
  if (unsigned.sessionId !== request.sessionId) return 'it was given for another session';
  if (unsigned.requestHash !== request.hash) return 'it was given for another request (the hash differs)';
  if (now >= unsigned.expiresAt) return 'it has expired';
  return null;
}

const macOf = (unsigned: Omit<SignedAnswer, 'mac'>, token: string): Buffer =>
  createHmac('sha256', token)
    .update(`hopgate approval\n${canonicalJson(asJson(unsigned))}`)
    .digest();
