import { visible } from '../../base/text.ts';
import { approvalRows } from '../../gate/approval-rows.ts';
import type { ApprovalRequest } from '../../ports/approver.ts';

/** What surrounds a request when a person is asked. */
export interface QuestionOptions {
  /** The lines of the change that would be shipped; null: there is none. */
  readonly diff: readonly string[] | null;
  /** The command that shows all of it in a terminal; null: there is none. */
  readonly readBy: string | null;
  /** Why it is asked once more. */
  readonly again: 'changed' | 'unticked' | null;
}

const AGAIN = {
  changed: 'What is to be approved has changed since you were asked. Read it again.',
  unticked: 'You accepted without a yes in Approve: nothing is approved so far. Set it to say yes, or decline.',
} as const;

/** Claude Code shows so many lines of a message, or one less and how many there are besides. */
const SHOWN_LINES = 4;

/** What a person is asked, with the whole of what the approval stands for; where a form may cut that off, where to read it stands in front. */
export function approvalQuestion(
  request: ApprovalRequest,
  { diff = null, readBy = null, again = null }: Partial<QuestionOptions> = {},
): string {
  const title = `${visible(request.agent)} asks for ${titleOf(request)}.`;
  const whole = [
    request.reason === '' ? '(no reason given)' : row('reason', request.reason),
    ...approvalRows(request).map(([title, text]) => row(title, text)),
    ...(diff === null ? [] : ['the change, as it is now:', ...diff.map(barred)]),
    `sha256 ${request.hash}`,
  ].join('\n');
  const lines = whole.split('\n').length;
  const isLong = lines + 1 + (again ? 1 : 0) > SHOWN_LINES;
  return [
    ...(again ? [AGAIN[again]] : []),
    title,
    ...(isLong && readBy !== null ? [`${lines} more lines${summaryOf(diff)}; read all: ${readBy}`] : []),
    whole,
  ].join('\n');
}

/** What a person is asked about a command that their own rules want them to see first. */
export const commandQuestion = (command: string, why: string, isAgain: boolean): string =>
  [
    ...(isAgain ? [AGAIN.unticked] : []),
    row('Your own rules ask about this command', why),
    ...command.split('\n').map(barred),
  ].join('\n');

/** Which files a diff changes, on the line that is read in any case. */
function summaryOf(diff: readonly string[] | null): string {
  const files = (diff ?? []).flatMap((line) => /^diff --git .* "?b\/(.*?)"?$/.exec(line)?.[1] ?? []);
  if (files.length === 0) return '';
  const named = files.slice(0, 3).map(visible).join(', ');
  return `, ${files.length} changed file${files.length === 1 ? '' : 's'} (${named}${files.length > 3 ? ', …' : ''})`;
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
