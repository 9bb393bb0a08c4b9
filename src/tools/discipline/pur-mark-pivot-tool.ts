import { HELD_BY_OUTCOME } from '../../evidence/patterns/pur.ts';
import type { ToolOutcome } from '../../ports/tool-backend.ts';
import { invalidCall } from '../tool-outcomes.ts';
import { findOpenSelection, isRefusal, nonBlankText, okOutcome, type PatternContext } from './pattern-context.ts';

/** pur-mark-pivot { pattern, reason, to? }: gives up a selected pattern; another call selects `to`. */
export function purMarkPivotTool(context: PatternContext): ToolOutcome {
  const { args } = context.call;
  const selection = findOpenSelection(context);
  if (isRefusal(selection)) return selection;
  const reason = nonBlankText(args['reason']);
  if (reason === null)
    return invalidCall('reason', '"reason" is blank', 'State in reason what showed that the pattern does not fit.');
  return okOutcome({
    pattern: selection.pattern,
    psr: selection.psrEntry,
    outcome: 'pivoted',
    held: HELD_BY_OUTCOME.pivoted,
    expected: selection.psr.expected,
    notes: reason,
    to: nonBlankText(args['to']),
  });
}
