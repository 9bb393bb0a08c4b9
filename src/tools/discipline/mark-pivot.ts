import { HELD } from '../../evidence/pur.ts';
import type { ToolOutcome } from '../../ports/tool-backend.ts';
import type { Desk } from './desk.ts';
import { done, invalid, isRefused, openSelection, textOf } from './outcomes.ts';

/** pur-mark-pivot { pattern, reason, to? }: a selected pattern is given up, perhaps for another, which is then selected on its own. */
export function markPivot(desk: Desk): ToolOutcome {
  const { args } = desk.call;
  const selection = openSelection(desk);
  if (isRefused(selection)) return selection;
  const reason = textOf(args['reason']);
  if (reason === null) return invalid('reason', '"reason" is blank', 'say what showed that the pattern does not fit');
  return done({
    pattern: selection.pattern,
    psr: selection.psrEntry,
    outcome: 'pivoted',
    held: HELD.pivoted,
    expected: selection.psr.expected,
    notes: reason,
    to: textOf(args['to']),
  });
}
