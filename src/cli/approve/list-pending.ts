import { excerpt } from '../../base/text.ts';
import { approvalTitle } from '../../gate/approvals/approval-rows.ts';
import type { PendingItem } from '../../operator/pending-items.ts';
import { type Io, print, printJson, printRemark } from '../io.ts';
import { printTable } from '../table.ts';

export function printPendingRequests(io: Io, items: readonly PendingItem[], elsewhere: number): void {
  if (io.json) return printJson(io, items.map(pendingRequestJson));
  if (items.length === 0) print(io, 'No request waits for an answer.');
  else {
    const roots = new Set(items.map(({ pending }) => pending.root));
    const rows = items.map((item) => [
      item.pending.id,
      timeSince(item.pending.askedAt),
      excerpt(item.pending.request.agent, 20),
      approvalTitle(item.pending.request),
      answerInWords(item),
      ...(roots.size > 1 ? [item.pending.root] : []),
      excerpt(item.pending.request.reason, 60),
    ]);
    printTable(io, ['id', 'waits', 'agent', 'for', 'answer', ...(roots.size > 1 ? ['root'] : []), 'reason'], rows);
  }
  if (elsewhere > 0) printRemark(io, `${elsewhere} more in other repositories: hopgate approve --all-roots`);
}

/** The `--json` form of a request. Times are ISO 8601. */
export const pendingRequestJson = ({ pending, answer, stateDir }: PendingItem) => ({
  id: pending.id,
  root: pending.root,
  askedAt: new Date(pending.askedAt).toISOString(),
  expiresAt: new Date(pending.expiresAt).toISOString(),
  answer:
    answer === null
      ? null
      : { verdict: answer.verdict, by: answer.by, until: new Date(answer.expiresAt).toISOString() },
  request: pending.request,
  stateDir,
});

const answerInWords = ({ answer }: PendingItem): string => {
  if (answer === null) return 'none yet';
  return answer.verdict === 'no' ? 'no' : `approved by ${excerpt(answer.by, 20)}, not used yet`;
};

function timeSince(time: number): string {
  const minutes = Math.max(0, Math.floor((Date.now() - time) / 60_000));
  if (minutes < 1) return 'now';
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
