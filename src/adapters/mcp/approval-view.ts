import type { ApprovalRequest } from '../../ports/approver.ts';
import type { Json } from '../../spec/types.ts';

/** Control, zero-width and bidirectional characters: they could make a window show something else than what is there. */
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

/** Text on one line with everything that does not show escaped. */
export const shown = (text: string): string =>
  text.replace(HIDDEN, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`);

/** What a person is asked, with the whole of what the approval stands for. `diff`: lines of the change that would be shipped. */
export function approvalQuestion(request: ApprovalRequest, diff: string | null, changed: boolean): string {
  const rows = Object.entries(request.view).flatMap(([title, value]): [string, Json][] =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? Object.entries(value).map(([name, item]) => [`${title}.${name}`, item])
      : [[title, value]],
  );
  return [
    ...(changed ? ['What is to be approved has changed since you were asked. Read it again.'] : []),
    `${shown(request.agent)} asks for ${titleOf(request)}.`,
    ...(request.reason === '' ? [] : [`reason: ${shown(request.reason)}`]),
    ...rows.map(
      ([title, value]) => `${shown(title)}: ${shown(typeof value === 'string' ? value : JSON.stringify(value))}`,
    ),
    ...(diff === null ? [] : ['', ...diff.split('\n').map(shown), '']),
    `sha256 ${request.hash}`,
  ].join('\n');
}

const titleOf = ({ action }: ApprovalRequest): string =>
  shown(
    action.kind === 'hop'
      ? `the hop ${action.from} → ${action.to} (exit ${action.exit})`
      : `mode ${action.from} → ${action.to}`,
  );
