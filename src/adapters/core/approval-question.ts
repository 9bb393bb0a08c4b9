import { errorText, escapeInvisible, excerpt, plural } from '../../base/text.ts';
import { approvalRows, approvalTitle } from '../../gate/approvals/approval-rows.ts';
import type { ApprovalRequest } from '../../ports/approver.ts';
import type { AgentCall } from './agent-session.ts';

/** Asks a person to approve a request. Returns true or the person's name for a yes; anything else refuses it. */
export type Ask = (request: ApprovalRequest) => boolean | string | Promise<boolean | string>;

/** The person's answer as a call states it. A function that fails counts as a no. */
export async function askPerson(
  ask: Ask,
  request: ApprovalRequest,
): Promise<NonNullable<AgentCall['approved']> | null> {
  try {
    const consent: unknown = await ask(request);
    const by = consent === true ? 'operator' : consent;
    return typeof by === 'string' && by !== '' ? { hash: request.hash, by } : null;
  } catch (error) {
    return { because: `the question failed: ${excerpt(errorText(error), 200)}` };
  }
}

/** The parts of the question in addition to the request. */
export interface ApprovalQuestionOptions {
  /** The lines of the diff that would be shipped; null if the call ships nothing. */
  readonly diff: readonly string[] | null;
  /** The command that shows the full request in a terminal; null if there is none. */
  readonly readBy: string | null;
  /** The reason for asking again; null the first time. */
  readonly again: 'changed' | 'unticked' | { readonly problem: string } | null;
}

const AGAIN = {
  changed: 'The request has changed since you were asked. Read it again.',
  unticked: 'You accepted but did not set Approve, so nothing is approved yet. Set Approve to say yes, or decline.',
} as const;

const notGranted = (problem: string): string => `Nothing is approved yet: ${escapeInvisible(problem)}.`;

/**
 * The number of lines of a message that Claude Code shows. In a longer message, the last shown line states how many
 * lines are hidden.
 */
const SHOWN_LINES = 4;

/** The question to the operator: everything that the approval would bind, and the command that shows it in full. */
export function renderApprovalQuestion(
  request: ApprovalRequest,
  { diff = null, readBy = null, again = null }: Partial<ApprovalQuestionOptions> = {},
): string {
  const title = `${escapeInvisible(request.agent)} asks for ${approvalTitle(request)}.`;
  const body = [
    request.reason === '' ? '(no reason given)' : row('reason', request.reason),
    ...approvalRows(request).map(([title, text]) => row(title, text)),
    ...(diff === null ? [] : ['the change, as it is now:', ...diff.map(barredLine)]),
    `sha256 ${request.hash}`,
  ].join('\n');
  const lines = body.split('\n').length;
  const isLong = lines + 1 + (again ? 1 : 0) > SHOWN_LINES;
  return [
    ...(again === null ? [] : [typeof again === 'string' ? AGAIN[again] : notGranted(again.problem)]),
    title,
    ...(isLong && readBy !== null ? [`${lines} more lines${summaryOf(diff)}; read all: ${readBy}`] : []),
    body,
  ].join('\n');
}

/** The question about a command that the person's own rules want them to see first. */
export const renderCommandQuestion = (command: string, why: string, isAgain: boolean): string =>
  [
    ...(isAgain ? [AGAIN.unticked] : []),
    row('Your own rules ask about this command', why),
    ...command.split('\n').map(barredLine),
  ].join('\n');

/** Names the files that a diff changes. Forms show this line even if they cut off the diff. */
function summaryOf(diff: readonly string[] | null): string {
  const files = (diff ?? []).flatMap((line) => /^diff --git .* "?b\/(.*?)"?$/.exec(line)?.[1] ?? []);
  if (files.length === 0) return '';
  const named = files.slice(0, 3).map(escapeInvisible).join(', ');
  return `, ${plural(files.length, 'changed file')} (${named}${files.length > 3 ? ', …' : ''})`;
}

/** Prefixes each line of a longer text with a bar, so that none of them can imitate a line of the question. */
function row(title: string, text: string): string {
  if (!text.includes('\n')) return `${escapeInvisible(title)}: ${escapeInvisible(text)}`;
  return [`${escapeInvisible(title)}:`, ...text.replace(/\n$/, '').split('\n').map(barredLine)].join('\n');
}

const barredLine = (line: string): string => `│ ${escapeInvisible(line)}`;
