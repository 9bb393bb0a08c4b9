import { visible } from '../../base/text.ts';
import { approvalRows } from '../../gate/approval-rows.ts';
import type { ApprovalRequest } from '../../ports/approver.ts';
import { type Io, paint } from '../io.ts';

/** What is asked for, in a few words. */
export const titleOf = ({ action }: ApprovalRequest): string =>
  action.kind === 'hop'
    ? `the hop ${visible(action.from)} → ${visible(action.to)} (${visible(action.exit)})`
    : `mode ${visible(action.from)} → ${visible(action.to)}`;

/** The exact bytes of what is to be approved, with everything that does not show escaped. */
export function describeRequest(io: Io, request: ApprovalRequest): string {
  return [
    paint(io, 'bold', `${visible(request.agent)} asks for ${titleOf(request)}`),
    request.reason ? row('reason', request.reason) : '  (no reason given)',
    ...approvalRows(request).map(([title, text]) => row(title, text)),
    paint(io, 'dim', `  sha256 ${request.hash}`),
  ].join('\n');
}

/** Text of several lines stands behind a bar, so that none of its lines passes for one of ours. */
function row(title: string, text: string): string {
  if (!text.includes('\n')) return `  ${visible(title)}: ${visible(text)}`;
  const lines = text.replace(/\n$/, '').split('\n');
  return [`  ${visible(title)}:`, ...lines.map((line) => `    │ ${visible(line)}`)].join('\n');
}
