import { PATTERN_OUTCOME_TOOLS } from '../../evidence/patterns/learning-cycles.ts';
import { CONFIDENCES } from '../../evidence/patterns/psr.ts';
import type { ToolOutcome } from '../../ports/tool-backend.ts';
import type { Fields } from '../../spec/types.ts';
import { invalidCall } from '../tool-outcomes.ts';
import { type PatternContext, successfulOutcome, textsUnlessBlank, textUnlessBlank } from './pattern-context.ts';
import { searchPatterns } from './search-patterns.ts';

/** Runs `psr-select { pattern, rationale, … }`: selects a pattern (PSR), whose outcome must be recorded later. */
export async function psrSelectTool({ call, cycles, entries, library }: PatternContext): Promise<ToolOutcome> {
  const { args } = call;
  const id = textUnlessBlank(args['pattern']) ?? '';
  const rationale = textUnlessBlank(args['rationale']);
  if (rationale === null) return invalidCall('rationale', '"rationale" is blank', 'State why this pattern fits.');
  const { patterns, from } = await library();
  const pattern = patterns.find((one) => one.id === id);
  if (!pattern) {
    const near = searchPatterns(patterns, id.replaceAll(/[-/]/g, ' ')).slice(0, 3);
    const names = (near.length > 0 ? near.map((found) => found.pattern.id) : patterns.map((one) => one.id)).join(', ');
    return invalidCall('pattern', `there is no pattern "${id}"`, `Use psr-search; the known ids: ${names || 'none'}.`);
  }
  if (cycles.some((cycle) => cycle.open && cycle.pattern === id))
    return invalidCall(
      'pattern',
      `"${id}" is selected already`,
      `record its outcome: ${PATTERN_OUTCOME_TOOLS.map((tool) => `${tool} ${id}`).join(' or ')}`,
    );
  const searched = lastSearch(entries);
  const confidence = textUnlessBlank(args['confidence']);
  return successfulOutcome({
    pattern: id,
    kind: 'selection',
    title: pattern.title,
    do: pattern.do,
    rationale,
    expected: textUnlessBlank(args['expected']),
    confidence: CONFIDENCES.find((word) => word === confidence) ?? null,
    query: searched?.query ?? null,
    candidates: args['candidates'] === undefined ? (searched?.candidates ?? []) : textsUnlessBlank(args['candidates']),
    from,
  });
}

/** The last pattern search since the last selection; its results are the candidates. */
function lastSearch(
  entries: PatternContext['entries'],
): { readonly query: string; readonly candidates: string[] } | null {
  for (const { body } of entries.toReversed()) {
    const { event, tool, outcome } = body as Fields;
    if (event === 'denial') continue;
    if (event !== 'step' || tool === 'psr-select') return null;
    if (tool !== 'psr-search') continue;
    const { status, result } = outcome as Fields;
    if (status !== 'ok') continue;
    const { query, candidates } = result as Fields;
    if (typeof query !== 'string' || !Array.isArray(candidates)) return null;
    return { query, candidates: candidates.flatMap((one) => textUnlessBlank((one as Fields)['id']) ?? []) };
  }
  return null;
}
