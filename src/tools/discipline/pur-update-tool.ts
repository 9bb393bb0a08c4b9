import { readErrorSize } from '../../evidence/dialects/fields.ts';
import { HELD_BY_OUTCOME, PATTERN_OUTCOMES, parseOutcome } from '../../evidence/patterns/pur.ts';
import type { ToolOutcome } from '../../ports/tool-backend.ts';
import { invalidCall } from '../tool-outcomes.ts';
import {
  findOpenSelection,
  isRefusal,
  nonBlankText,
  nonBlankTexts,
  okOutcome,
  type PatternContext,
} from './pattern-context.ts';

/**
 * pur-update { pattern, outcome, actual?, expected?, prediction-error?, actions?, notes? }: records the outcome of a
 * selected pattern (PUR).
 */
export function purUpdateTool(context: PatternContext): ToolOutcome {
  const { args } = context.call;
  const selection = findOpenSelection(context);
  if (isRefusal(selection)) return selection;
  const outcome = parseOutcome(args['outcome']);
  if (outcome === null)
    return invalidCall(
      'outcome',
      `"${String(args['outcome'])}" is not an outcome`,
      `Set outcome to one of: ${PATTERN_OUTCOMES.join(', ')}.`,
    );
  const error = args['prediction-error'];
  const predictionError = readErrorSize(error);
  if (error !== undefined && predictionError === null)
    return invalidCall(
      'prediction-error',
      `"${String(error)}" is not an error level`,
      'Set prediction-error to none, low, medium, high, or a number from 0 to 1.',
    );
  return okOutcome({
    pattern: selection.pattern,
    psr: selection.psrEntry,
    outcome,
    held: HELD_BY_OUTCOME[outcome],
    expected: nonBlankText(args['expected']) ?? selection.psr.expected,
    actual: nonBlankText(args['actual']),
    predictionError,
    actions: nonBlankTexts(args['actions']),
    notes: nonBlankText(args['notes']),
  });
}
