import type { z } from 'zod';
import type { ApprovalRequest } from '../../ports/approver.ts';
import type { ApprovalCardSchema } from '../../server/approval-card-schema.ts';
import { readSessionOpenBody, readStoredPin } from '../../session/pin.ts';
import type { TreeDiff } from '../../tools/tree/tree-diff.ts';
import type { Io } from '../io.ts';
import { withEvidence } from '../open-store.ts';

export type ApprovalCard = z.output<typeof ApprovalCardSchema>;

/** The line in a printed diff before the files that no peripheral may write. */
export const OUT_OF_SCOPE_LINE = '── outside of the scope: no peripheral of this session may write these ──';

/** The summary of a request as the live view shows it; null if the repository has no evidence of the session. */
export function readApprovalCard(
  io: Pick<Io, 'env'>,
  request: ApprovalRequest,
  root: string,
  diff: TreeDiff | null,
): Promise<ApprovalCard | null> {
  return withEvidence(root, io.env, null, async (store) => {
    const opened = await readSessionOpenBody(store, request.sessionId);
    if (opened === null) return null;
    const { makeApprovalCard } = await import('../../server/approval-card-schema.ts');
    return makeApprovalCard(request, await readStoredPin(store, opened.pin), diff, store);
  });
}

/** The lines of a diff, with {@link OUT_OF_SCOPE_LINE} before the files that no peripheral may write. */
export function diffLinesMarkedByScope(diff: TreeDiff, card: ApprovalCard | null): readonly string[] {
  if (card === null || card.files.length === 0) return diff.lines;
  const border = card.files.findIndex(({ inside }) => !inside);
  return card.files.flatMap(({ lines }, index) => (index === border ? [OUT_OF_SCOPE_LINE, ...lines] : lines));
}
