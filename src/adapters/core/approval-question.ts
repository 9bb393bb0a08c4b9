import { visible } from '../../base/text.ts';
import { approvalRows } from '../../gate/approval-rows.ts';
import type { ApprovalRequest } from '../../ports/approver.ts';

/** What a person is asked, with the whole of what the approval stands for. `diff`: the lines of the change that would be shipped. */
export function approvalQuestion(request: ApprovalRequest, diff: readonly string[] | null, changed: boolean): string {
  return [
    ...(changed ? ['What is to be approved has changed since you were asked. Read it again.'] : []),
    `${visible(request.agent)} asks for ${titleOf(request)}.`,
    request.reason === '' ? '(no reason given)' : row('reason', request.reason),
    ...approvalRows(request).map(([title, text]) => row(title, text)),
    ...(diff === null ? [] : ['the change, as it is now:', ...diff.map(barred)]),
    `sha256 ${request.hash}`,
  ].join('\n');
}

/** Text of several lines stands behind a bar, so that none of its lines passes for one of ours. */
function row(title: string, text: string): string {
  if (!text.includes('\n')) return `${visible(title)}: ${visible(text)}`;
  return [`${visible(title)}:`, ...text.replace(/\n$/, '').split('\n').map(barred)].join('\n');
}

const barred = (line: string): string => `│ ${visible(line)}`;

const titleOf = ({ action }: ApprovalRequest): string =>
  visible(
    action.kind === 'hop'
      ? `the hop ${action.from} → ${action.to} (exit ${action.exit})`
      : `mode ${action.from} → ${action.to}`,
  );
