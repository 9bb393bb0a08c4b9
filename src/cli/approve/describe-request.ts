import { escapeInvisible } from '../../base/text.ts';
import { approvalRows, approvalTitle } from '../../gate/approvals/approval-rows.ts';
import type { ApprovalRequest } from '../../ports/approver.ts';
import { type Io, paint } from '../io.ts';

/** Formats the exact bytes of the request, with every invisible character escaped. */
export function describeRequest(io: Io, request: ApprovalRequest): string {
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
