import { toBody } from '../../evidence/bodies.ts';
import { readErrorSize } from '../../evidence/dialects/fields.ts';
import type { Entry } from '../../evidence/entry.ts';
import { deriveReview } from '../../evidence/patterns/derive-review.ts';
import { findLearningCycles } from '../../evidence/patterns/learning-cycles.ts';
import { HELD_BY_OUTCOME, PATTERN_OUTCOMES, parsePatternOutcome } from '../../evidence/patterns/pur.ts';
import { removeToolOutput } from '../../evidence/patterns/remove-output.ts';
import type { EvidenceStore } from '../../ports/evidence-store.ts';
import type { ToolBackend, ToolOutcome, ToolReport } from '../../ports/tool-backend.ts';
import { LAZY_BACKENDS } from '../../spec/policy/tool-ids.ts';
import type { Fields } from '../../spec/types.ts';
import { invalidCall, reportIfAborted } from '../tool-outcomes.ts';
import { workspaceBackend } from '../workspace/workspace-backend.ts';
import {
  findOpenSelection,
  isToolRefusal,
  type PatternContext,
  successfulOutcome,
  textsUnlessBlank,
  textUnlessBlank,
} from './pattern-context.ts';
import { loadPatternLibrary } from './pattern-library.ts';
import { psrSelectTool } from './psr-select-tool.ts';
import { searchPatterns } from './search-patterns.ts';

const TOOLS: { readonly [id: string]: (context: PatternContext) => Promise<ToolOutcome> | ToolOutcome } = {
  'psr-search': psrSearchTool,
  'psr-select': psrSelectTool,
  'pur-update': purUpdateTool,
  'pur-mark-pivot': purMarkPivotTool,
  'par-punctuate': parPunctuateTool,
};

/**
 * Pattern tools: search patterns, select one (PSR), record its outcome (PUR), mark a pivot, write a review (PAR). The
 * tools change only the session's evidence. They read it to find the selected patterns; an outcome without its
 * selection is refused.
 */
export function disciplineBackend(store: EvidenceStore): ToolBackend {
  const files = workspaceBackend();
  return {
    ...LAZY_BACKENDS.discipline,
    async run(call): Promise<ToolReport> {
      const tool = Object.hasOwn(TOOLS, call.tool.id) ? TOOLS[call.tool.id] : undefined;
      if (!tool) throw new Error(`[tools/discipline] serves no tool "${call.tool.id}"`);
      const aborted = reportIfAborted(call);
      if (aborted) return aborted;
      const entries: Entry[] = [];
      for await (const { entry } of store.entries(call.sessionId))
        if (toBody(entry.body)) entries.push(removeToolOutput(entry));
      const read = new Set<string>();
      const library = async () => {
        const found = await loadPatternLibrary(call, files);
        for (const file of found.read) read.add(file);
        return found;
      };
      const outcome = await tool({ call, entries, cycles: findLearningCycles(entries), library });
      return { outcome, effects: [...read].map((path) => ({ path, op: 'read' as const })) };
    },
  };
}

const DEFAULT_LIMIT = 5;

/** Runs `psr-search { query, limit? }`: the matching patterns, best first; without a match, the ids of all patterns. */
async function psrSearchTool({ call, library }: PatternContext): Promise<ToolOutcome> {
  const query = textUnlessBlank(call.args['query']);
  if (query === null) return invalidCall('query', '"query" is blank', 'Describe what you are about to do.');
  const { limit = DEFAULT_LIMIT } = call.args;
  const { from, patterns, faulty } = await library();
  const candidates = searchPatterns(patterns, query).slice(0, Number(limit));
  return successfulOutcome({
    query,
    from,
    candidates: candidates.map(({ pattern: { tags, ...pattern }, score }) => ({ ...pattern, tags: [...tags], score })),
    ...(candidates.length === 0 ? { all: patterns.map(({ id }) => id) } : {}),
    ...(faulty.length > 0 ? { faulty: faulty.map((one) => ({ ...one })) } : {}),
  });
}

/** Runs `pur-update { pattern, outcome, actual?, …, notes? }`: records the outcome of a selected pattern (PUR). */
function purUpdateTool(context: PatternContext): ToolOutcome {
  const { args } = context.call;
  const selection = findOpenSelection(context);
  if (isToolRefusal(selection)) return selection;
  const outcome = parsePatternOutcome(args['outcome']);
  if (outcome === null)
    return invalidCall(
      'outcome',
      `"${String(args['outcome'])}" is not an outcome`,
      `Set "outcome" to one of: ${PATTERN_OUTCOMES.join(', ')}.`,
    );
  const error = args['prediction-error'];
  const predictionError = readErrorSize(error);
  if (error !== undefined && predictionError === null)
    return invalidCall(
      'prediction-error',
      `"${String(error)}" is not an error level`,
      'Set "prediction-error" to none, low, medium, high, or a number from 0 to 1.',
    );
  return successfulOutcome({
    pattern: selection.pattern,
    psr: selection.psrEntry,
    outcome,
    held: HELD_BY_OUTCOME[outcome],
    expected: textUnlessBlank(args['expected']) ?? selection.psr.expected,
    actual: textUnlessBlank(args['actual']),
    predictionError,
    actions: textsUnlessBlank(args['actions']),
    notes: textUnlessBlank(args['notes']),
  });
}

/** Runs `pur-mark-pivot { pattern, reason, to? }`: gives up a selected pattern for `to`, which a later call selects. */
function purMarkPivotTool(context: PatternContext): ToolOutcome {
  const { args } = context.call;
  const selection = findOpenSelection(context);
  if (isToolRefusal(selection)) return selection;
  const reason = textUnlessBlank(args['reason']);
  if (reason === null)
    return invalidCall('reason', '"reason" is blank', 'State in "reason" what showed that the pattern does not fit.');
  return successfulOutcome({
    pattern: selection.pattern,
    psr: selection.psrEntry,
    outcome: 'pivoted',
    held: HELD_BY_OUTCOME.pivoted,
    expected: selection.psr.expected,
    notes: reason,
    to: textUnlessBlank(args['to']),
  });
}

/** Runs `par-punctuate { what-went-well?, what-could-improve?, …, questions? }`: writes a checkpoint review. */
function parPunctuateTool({ call, entries }: PatternContext): ToolOutcome {
  const par = deriveReview(entries, call.args);
  return successfulOutcome({ ...(par as Fields), 'par/tags': ['checkpoint'] });
}
