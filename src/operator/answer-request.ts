import { randomBytes } from 'node:crypto';
import { approvalsFolder } from './approvals-folder.ts';
import { operatorTokenOrNull } from './operator-token.ts';
import type { PendingRequest } from './pending-request.ts';
import { type AnswerTerms, problemOfAnswer, type SignedAnswer, signAnswer } from './signed-answer.ts';

export interface RequestAndAnswer {
  readonly pending: PendingRequest;
  /** Null before there is an answer, and after the answer was used or has expired. */
  readonly answer: SignedAnswer | null;
}

/** The requests that wait in a state folder, the oldest first; expired requests are removed. */
export function listPendingRequests(stateDir: string, now = Date.now()): readonly RequestAndAnswer[] {
  const folder = approvalsFolder(stateDir);
  folder.sweep(now);
  const waiting = folder.pending();
  const token = waiting.length === 0 ? null : operatorTokenOrNull(stateDir);
  return waiting.map((pending) => {
    const answer = folder.answer(pending.request.hash);
    const holds =
      answer && token && problemOfAnswer(answer, pending.request, token, now) === null && !folder.isUsed(answer);
    return { pending, answer: holds ? answer : null };
  });
}

/** A person's answer; `reason` has the words for the agent if it is a no. */
interface PersonAnswer extends Pick<AnswerTerms, 'verdict' | 'by' | 'reason' | 'grant'> {
  /** The validity of the answer, at most a day. */
  readonly minutes: number;
}

/**
 * Answers a request with the operator's token; the agent gets the answer when it asks again. The last answer counts.
 */
export function answerRequest(
  stateDir: string,
  pending: PendingRequest,
  answer: PersonAnswer,
  token: string,
  now = Date.now(),
): SignedAnswer {
  const signed = signedAnswer(pending, answer, token, now);
  approvalsFolder(stateDir).keepAnswer(signed);
  return signed;
}

/**
 * Answers a request that nobody has answered. The first answer counts, from any terminal, page or program.
 * @returns the new answer, or the earlier answer, which stays valid; null if the request no longer waits
 */
export function answerIfUnanswered(
  stateDir: string,
  pending: PendingRequest,
  answer: PersonAnswer,
  token: string,
  now = Date.now(),
): { readonly answer: SignedAnswer } | { readonly earlier: SignedAnswer } | null {
  const folder = approvalsFolder(stateDir);
  folder.sweep(now);
  const { request } = pending;
  const before = folder.answer(request.hash);
  if (before && problemOfAnswer(before, request, token, now) === null && !folder.isUsed(before))
    return { earlier: before };
  if (before) folder.dropAnswer(request.hash);
  const signed = signedAnswer(pending, answer, token, now);
  if (!folder.keepFirstAnswer(signed)) {
    const earlier = folder.answer(request.hash);
    return earlier && { earlier };
  }
  if (folder.pendingOf(request.hash) !== null) return { answer: signed };
  // Nobody waits for the request any more: its session has used this answer already, or an earlier one.
  return folder.claim(signed) ? null : { answer: signed };
}

function signedAnswer({ request }: PendingRequest, answer: PersonAnswer, token: string, now: number): SignedAnswer {
  const { verdict, by, minutes, reason, grant } = answer;
  const terms: AnswerTerms = {
    verdict,
    sessionId: request.sessionId,
    requestHash: request.hash,
    by: by.toWellFormed(),
    ...(reason === undefined ? {} : { reason: reason.toWellFormed() }),
    ...(grant === undefined || verdict === 'no' ? {} : { grant }),
    nonce: randomBytes(16).toString('hex'),
    givenAt: now,
    expiresAt: now + Math.round(Math.min(minutes, 24 * 60) * 60_000),
  };
  return signAnswer(terms, token);
}
