import { HELD } from '../../evidence/pur.ts';
import type { ToolOutcome } from '../../ports/tool-backend.ts';
import { done, invalid, isRefused, openSelection, textOf } from './outcomes.ts';
import type { PatternContext } from './pattern-context.ts';

/**
 * pur-mark-pivot { pattern, reason, to? }: gives up a selected pattern. The replacement `to` must be selected
 * separately.
 */
export function markPivot(context: PatternContext): ToolOutcome {
  const { args } = context.call;
  const selection = openSelection(context);
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
