import { deriveReview } from '../../evidence/patterns/derive-review.ts';
import type { ToolOutcome } from '../../ports/tool-backend.ts';
import type { Json } from '../../spec/types.ts';
import { okOutcome, type PatternContext } from './pattern-context.ts';

/**
 * par-punctuate { what-went-well?, what-could-improve?, suggestions?, prediction-errors?, questions? }: writes a
 * checkpoint review.
 */
export function parPunctuateTool({ call, entries }: PatternContext): ToolOutcome {
  const par = deriveReview(entries, call.args);
  return okOutcome({ ...(par as { readonly [field: string]: Json }), 'par/tags': ['checkpoint'] });
}
