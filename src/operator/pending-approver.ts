import { nameLeaseHolder } from '../base/process-holder.ts';
import type { ApprovalRequest, Approver } from '../ports/approver.ts';
import type { Clock } from '../ports/clock.ts';
import { type ApprovalsFolder, approvalsFolder } from './approvals-folder.ts';
import { watchFolderUntil } from './folder-watch.ts';
import { operatorTokenOrNull } from './operator-token.ts';
import { newRequestId, REQUEST_LIFETIME_MS } from './pending-request.ts';
import { problemOfAnswer, type SignedAnswer } from './signed-answer.ts';

/** Maximum number of pending requests per session; the oldest is removed first. */
const PER_SESSION = 20;

interface PendingOptions {
  /** The repository's state folder, outside the root, with requests, answers and the token. */
  readonly stateDir: string;
  /** Absolute real path of the repository, whose diff the operator sees. */
  readonly root: string;
  readonly clock?: Clock;
  /** The process that alone can use the answer: the request ends with it. By default any process can use it. */
  readonly holder?: string;
  /** How long to wait for the answer, in milliseconds. During the wait, the session accepts no other call. */
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
  /** Called with a new pending request, before the wait for its answer. */
  readonly onPending?: (id: string, request: ApprovalRequest) => void;
}

/**
 * Stores requests for the operator, who answers them with `hopgate approve ID` and proves the answer by the operator's
 * token. A new request is stored and `{ pending: id }` is returned. The same request, made again after the answer, gets
 * the answer. Each answer, yes or no, is used once; after that the request is a new one. An answer that is forged,
 * altered, expired, used, or for another request is ignored.
 */
export function pendingApprover(options: PendingOptions): Approver {
  const { stateDir, root, waitMs = 0, signal } = options;
  const now = (): number => (options.clock ?? Date).now();
  return {
    via: 'operator-token',
    async approve(request) {
      const folder = approvalsFolder(stateDir);
      const answered = takeAnswer(folder, stateDir, request, now());
      if (answered) return toApproverAnswer(answered, now());
      folder.sweep(now());
      const pending = storeRequest(folder, request, root, now(), options.holder);
      if (pending === null) return null;
      options.onPending?.(pending, request);
      const look = () => takeAnswer(folder, stateDir, request, now());
      const answer = await watchFolderUntil(folder.answersFolder, waitMs, look, signal);
      return answer ? toApproverAnswer(answer, now()) : { pending };
    },
  };
}

/**
 * Asks a person in this process, and lets the operator answer elsewhere meanwhile (`hopgate approve`, a page). The
 * first answer counts and ends the other question.
 * @param here asks the person; its signal ends the question. True approves
 */
export function askHereOrElsewhere(
  via: Approver['via'],
  options: Pick<PendingOptions, 'stateDir' | 'root' | 'onPending'>,
  here: (request: ApprovalRequest, signal: AbortSignal) => Promise<boolean>,
): Approver {
  let answeredVia = via;
  return {
    get via() {
      return answeredVia;
    },
    async approve(request) {
      const [asking, waiting] = [new AbortController(), new AbortController()];
      const elsewhere = pendingApprover({
        ...options,
        holder: nameLeaseHolder(''),
        waitMs: REQUEST_LIFETIME_MS,
        signal: waiting.signal,
      });
      const other = elsewhere.approve(request).then((answer) => {
        const approval = answer && !('pending' in answer) ? answer : null;
        if (approval) asking.abort();
        return approval;
      });
      const isApproved = await here(request, asking.signal).finally(() => waiting.abort());
      const otherApproval = await other;
      answeredVia = otherApproval ? elsewhere.via : via;
      if (otherApproval) return otherApproval;
      approvalsFolder(options.stateDir).dropPending(request.hash);
      return isApproved ? { by: 'operator' } : { declined: 'operator' };
    },
  };
}

/** Stores a request for the operator and returns its id; null if it is too large. */
export function storePendingRequest(
  { stateDir, root, clock }: Pick<PendingOptions, 'stateDir' | 'root' | 'clock'>,
  request: ApprovalRequest,
): string | null {
  const folder = approvalsFolder(stateDir);
  const now = (clock ?? Date).now();
  folder.sweep(now);
  return storeRequest(folder, request, root, now);
}

const toApproverAnswer = ({ verdict, by, reason, grant, expiresAt }: SignedAnswer, now: number) =>
  verdict === 'yes'
    ? { by, minutes: (expiresAt - now) / 60_000, ...(grant === undefined ? {} : { grant }) }
    : { declined: by, ...(reason === undefined ? {} : { because: reason }) };

/** Takes the answer to a request, so that no other caller gets it; null if there is no valid answer. */
function takeAnswer(
  folder: ApprovalsFolder,
  stateDir: string,
  request: ApprovalRequest,
  now: number,
): SignedAnswer | null {
  const answer = folder.answer(request.hash);
  const token = answer && operatorTokenOrNull(stateDir);
  if (!answer || !token || problemOfAnswer(answer, request, token, now) !== null || !folder.claim(answer)) return null;
  folder.dropPending(request.hash);
  // The request is settled, so a second answer must not approve a later request.
  folder.dropAnswer(request.hash);
  return answer;
}

function storeRequest(
  folder: ApprovalsFolder,
  request: ApprovalRequest,
  root: string,
  now: number,
  holder?: string,
): string | null {
  const stored = folder.pendingOf(request.hash);
  if (stored) return stored.id;
  const all = folder.pending();
  const ofSession = all.filter((pending) => pending.request.sessionId === request.sessionId);
  for (const { request } of ofSession.slice(0, Math.max(0, ofSession.length - PER_SESSION + 1)))
    folder.dropPending(request.hash);
  const { sessionId, agent, action, reason, view, hash } = request;
  const storedPending = folder.keepPending({
    version: 1,
    id: newRequestId(all.map(({ id }) => id)),
    root,
    // Later than the times of all waiting requests, so that requests of one millisecond keep their order.
    askedAt: all.reduce((last, { askedAt }) => Math.max(last, askedAt + 1), now),
    expiresAt: now + REQUEST_LIFETIME_MS,
    ...(holder === undefined ? {} : { holder }),
    request: { sessionId, agent, action, reason, view, hash },
  });
  return storedPending?.id ?? null;
}
