import { createHmac, timingSafeEqual } from 'node:crypto';
import { isObject } from '../base/json.ts';
import { canonical } from '../evidence/canonical.ts';
import type { Json } from '../spec/types.ts';

/** What the operator says to one request. Times are epoch milliseconds. */
export interface AnswerTerms {
  readonly verdict: 'yes' | 'no';
  readonly sessionId: string;
  /** Of the request; the answer holds for nothing else. */
  readonly requestHash: string;
  readonly by: string;
  /** Used once, under this name. */
  readonly nonce: string;
  readonly givenAt: number;
  readonly expiresAt: number;
}

/** An answer as it lies in a file: the terms, and the proof that they were written by a holder of the operator's token. */
export interface SignedAnswer extends AnswerTerms {
  readonly version: 1;
  /** HMAC-SHA256 (hex) with the token, over the RFC 8785 form of all else. */
  readonly mac: string;
}

export function signAnswer(terms: AnswerTerms, token: string): SignedAnswer {
  const { verdict, sessionId, requestHash, by, nonce, givenAt, expiresAt } = terms;
  const whole = { version: 1 as const, verdict, sessionId, requestHash, by, nonce, givenAt, expiresAt };
  return { ...whole, mac: macOf(whole, token).toString('hex') };
}

/** What is read from a file as an answer, unproved; null if it has not exactly the shape of one. */
export function parseAnswer(value: unknown): SignedAnswer | null {
  if (!isObject(value)) return null;
  const fields = value as { readonly [name: string]: unknown };
  if (Object.keys(fields).sort().join() !== NAMES) return null;
  const { version, verdict, sessionId, requestHash, by, nonce, givenAt, expiresAt, mac } = fields;
  const texts = [sessionId, by].every((text) => typeof text === 'string' && text.isWellFormed());
  const times = [givenAt, expiresAt].every((time) => Number.isSafeInteger(time));
  const fits =
    version === 1 &&
    (verdict === 'yes' || verdict === 'no') &&
    texts &&
    times &&
    isHash(requestHash) &&
    typeof nonce === 'string' &&
    /^[0-9a-f]{32}$/.test(nonce) &&
    isHash(mac);
  return fits ? (fields as unknown as SignedAnswer) : null;
}

const NAMES = 'by,expiresAt,givenAt,mac,nonce,requestHash,sessionId,verdict,version';

export const isHash = (value: unknown): value is string => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);

/** Why an answer does not hold for a request; null when it does (but for its single use, which only the file system can tell). */
export function answerProblem(
  { mac, ...whole }: SignedAnswer,
  wanted: { readonly sessionId: string; readonly hash: string },
  token: string,
  now: number,
): string | null {
  if (!timingSafeEqual(macOf(whole, token), Buffer.from(mac, 'hex')))
    return "it was not made with the operator's token";
  if (whole.sessionId !== wanted.sessionId) return 'it was given for another session';
  if (whole.requestHash !== wanted.hash) return 'it was given for another request (the hash differs)';
  if (now >= whole.expiresAt) return 'it has expired';
  return null;
}

const macOf = (whole: Omit<SignedAnswer, 'mac'>, token: string): Buffer =>
  createHmac('sha256', token)
    .update(`hopgate approval\n${canonical(whole as unknown as Json)}`)
    .digest();
