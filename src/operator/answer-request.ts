import { randomBytes } from 'node:crypto';
import { type AnswerTerms, answerProblem, type SignedAnswer, signAnswer } from './answer.ts';
import { approvalsFolder } from './approvals-folder.ts';
import type { PendingRequest } from './pending-request.ts';
import { usableToken } from './token.ts';

/** A request and the operator's answer to it. */
export interface OperatorItem {
  readonly pending: PendingRequest;
  /** Null before there is an answer, and after it was used or has expired. */
  readonly answer: SignedAnswer | null;
}

/** The requests that wait in a state folder, the oldest first; those that have expired are removed. */
export function pendingRequests(stateDir: string, now = Date.now()): readonly OperatorItem[] {
  const folder = approvalsFolder(stateDir);
  folder.sweep(now);
  const waiting = folder.pending();
  const token = waiting.length === 0 ? null : usableToken(stateDir);
  return waiting.map((pending) => {
    const answer = folder.answer(pending.request.hash);
    const holds =
      answer && token && answerProblem(answer, pending.request, token, now) === null && !folder.isUsed(answer);
    return { pending, answer: holds ? answer : null };
  });
}

/**
 * Answers a request with the operator's token. The session finds the answer when it repeats the request; a second
 * answer replaces an unused one.
 * @param minutes how long the answer is valid, at most a day
 */
export function answerRequest(
  stateDir: string,
  { request }: PendingRequest,
  said: { readonly verdict: 'yes' | 'no'; readonly by: string; readonly minutes: number },
  token: string,
  now = Date.now(),
): SignedAnswer {
  const terms: AnswerTerms = {
    verdict: said.verdict,
    sessionId: request.sessionId,
    requestHash: request.hash,
    by: said.by.toWellFormed(),
    nonce: randomBytes(16).toString('hex'),
    givenAt: now,
    expiresAt: now + Math.round(Math.min(said.minutes, 24 * 60) * 60_000),
  };
  const signed = signAnswer(terms, token);
  approvalsFolder(stateDir).keepAnswer(signed);
  return signed;
}
