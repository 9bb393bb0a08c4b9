import { escapeInvisible } from '../../base/text.ts';
import { approvalRows, approvalTitle } from '../../gate/approvals/approval-rows.ts';
import type { ApprovalRequest } from '../../ports/approver.ts';
import { APPROVAL_FIELD_TITLES } from '../../spec/policy/approval-fields.ts';
import { diffOfWorkingTree, type TreeDiff } from '../../tools/tree/tree-diff.ts';
import { formatDuration } from '../../view/format-time.ts';
import { type Io, paint, paintDiff, print } from '../io.ts';
import { type ApprovalCard, diffLinesMarkedByScope, OUT_OF_SCOPE_LINE, readApprovalCard } from './approval-card.ts';

/** Shows a person what to approve: the request, and for a hop after changes the diff of the current tree. */
export async function showApprovalRequest(io: Io, request: ApprovalRequest, root: string): Promise<void> {
  print(io, describeApprovalRequest(io, request));
  const diff = await readDiffToApprove(request, root);
  const card = await readApprovalCard(io, request, root, diff);
  if (card !== null) print(io, `  a yes opens: ${escapeInvisible(card.opens)}`);
  if (diff === null) return;
  if (card !== null) print(io, testsLine(io, card));
  for (const path of diff.changedSince)
    print(io, paint(io, 'yellow', `  ${escapeInvisible(path)} differs from this session's last version`));
  if (diff.lines.length > 0) {
    print(
      io,
      paint(
        io,
        'dim',
        diff.ofShipped
          ? '  what would be committed, as it is now:'
          : '  the tree against the last commit, as it is now:',
      ),
    );
    for (const line of diffLinesMarkedByScope(diff, card))
      print(io, paintLine(io, escapeInvisible(line.replaceAll('\t', '    '))));
  }
  if (diff.problem !== null)
    print(io, paint(io, 'yellow', `  the diff is incomplete: ${escapeInvisible(diff.problem)}`));
}

/**
 * The diff to show for a request; null if nothing differs. The diff is not limited to the session's own changes: a
 * sub-agent's edits belong to another session, and earlier changes in the tree are shipped too.
 */
export async function readDiffToApprove(request: ApprovalRequest, root: string): Promise<TreeDiff | null> {
  if (request.action.kind !== 'hop') return null;
  const diff = await diffOfWorkingTree(root, request);
  return diff.lines.length > 0 || Object.keys(request.view[APPROVAL_FIELD_TITLES.changes] ?? {}).length > 0
    ? diff
    : null;
}

/** A line about the verdict and the age of the last test run. */
function testsLine(io: Io, { tests }: ApprovalCard): string {
  if (tests === null) return paint(io, 'yellow', '  tests: no run is recorded');
  const age = formatDuration(Date.now() - tests.at);
  const line = `  tests: ${escapeInvisible(tests.verdict)}, ${age} ago: ${escapeInvisible(tests.command)}`;
  return tests.verdict === 'pass' ? line : paint(io, 'yellow', line);
}

const paintLine = (io: Io, line: string): string =>
  line === OUT_OF_SCOPE_LINE ? paint(io, 'yellow', line) : paintDiff(io, line);

/** Formats the exact bytes of the request, with every invisible character escaped. */
export function describeApprovalRequest(io: Io, request: ApprovalRequest): string {
  return [
    paint(io, 'bold', `${escapeInvisible(request.agent)} asks for ${approvalTitle(request)}`),
    request.reason ? row('reason', request.reason) : '  (no reason given)',
    ...approvalRows(request).map(([title, text]) => row(title, text)),
    paint(io, 'dim', `  sha256 ${request.hash}`),
  ].join('\n');
}

/** Prefixes each line of a multi-line text with a bar, so that no line can imitate hopgate's own output. */
function row(title: string, text: string): string {
  if (!text.includes('\n')) return `  ${escapeInvisible(title)}: ${escapeInvisible(text)}`;
  const lines = text.replace(/\n$/, '').split('\n');
  return [`  ${escapeInvisible(title)}:`, ...lines.map((line) => `    │ ${escapeInvisible(line)}`)].join('\n');
}
