import type { ToolOutcome } from '../../ports/tool-backend.ts';
import { invalidCall } from '../tool-outcomes.ts';
import { nonBlankText, okOutcome, type PatternContext } from './pattern-context.ts';
import { searchPatterns } from './search-patterns.ts';

const DEFAULT_LIMIT = 5;

/**
 * psr-search { query, limit? }: returns the matching patterns, best first; without a match, the ids of all patterns.
 */
export async function psrSearchTool({ call, library }: PatternContext): Promise<ToolOutcome> {
  const query = nonBlankText(call.args['query']);
  if (query === null) return invalidCall('query', '"query" is blank', 'Describe what you are about to do.');
  const { limit = DEFAULT_LIMIT } = call.args;
  const { from, patterns, faulty } = await library();
  const candidates = searchPatterns(patterns, query).slice(0, Number(limit));
  return okOutcome({
    query,
    from,
    candidates: candidates.map(({ pattern: { tags, ...pattern }, score }) => ({ ...pattern, tags: [...tags], score })),
    ...(candidates.length === 0 ? { all: patterns.map(({ id }) => id) } : {}),
    ...(faulty.length > 0 ? { faulty: faulty.map((one) => ({ ...one })) } : {}),
  });
}
