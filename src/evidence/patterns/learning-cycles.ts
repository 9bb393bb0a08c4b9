import { toBody } from '../bodies.ts';
import type { EntryDraft } from '../entry.ts';
import { PATTERN_TOOLS, patternToolOfEntry } from './pattern-tools.ts';
import { type Psr, readPsr } from './psr.ts';
import { type Pur, readPur } from './pur.ts';

/** One learning cycle: the selection of a pattern and its outcome. */
export interface LearningCycle {
  readonly pattern: string;
  /** Id of the entry that selected the pattern. */
  readonly psrEntry: string;
  readonly psr: Psr;
  /** The last recorded outcome of the pattern; null if there is none yet. */
  readonly pur: Pur | null;
  readonly purEntry: string | null;
  /** True if no outcome was recorded, or the last one is `deferred`. */
  readonly open: boolean;
}

/**
 * Returns the learning cycles in a session's entries, in order of selection. Entries written by other programs count by
 * their type (`pattern-selection`, `pattern-outcome`), in any dialect.
 */
export function findLearningCycles(
  entries: Iterable<Pick<EntryDraft, 'id' | 'type' | 'patternId' | 'body'>>,
): readonly LearningCycle[] {
  const cycles: LearningCycle[] = [];
  for (const entry of entries) {
    const record = recordOf(entry);
    if (record?.psr) {
      const pattern = record.pattern ?? record.psr.pattern;
      if (pattern !== null && record.psr.kind === 'selection')
        cycles.push({ pattern, psrEntry: entry.id, psr: record.psr, pur: null, purEntry: null, open: true });
    } else if (record?.pur) {
      const { pur } = record;
      const pattern = record.pattern ?? pur.pattern;
      const named = cycles.findIndex(({ psrEntry }) => psrEntry === pur.psr);
      const at = named >= 0 ? named : cycles.findLastIndex((cycle) => cycle.open && cycle.pattern === pattern);
      const cycle = cycles[at];
      if (cycle) cycles[at] = { ...cycle, pur, purEntry: entry.id, open: pur.held === null };
    }
  }
  return cycles;
}

function recordOf({ type, patternId, body }: Pick<EntryDraft, 'type' | 'patternId' | 'body'>) {
  const own = toBody(body);
  if (own) {
    const rule = patternToolOfEntry(own);
    if (!rule?.does || own.event !== 'step' || own.outcome.status !== 'ok') return null;
    const result = own.outcome.result;
    return rule.does === 'selects'
      ? { pattern: rule.pattern, psr: readPsr(result), pur: null }
      : { pattern: rule.pattern, psr: null, pur: readPur(result) };
  }
  const pattern = patternId ?? null;
  if (type === 'pattern-selection') return { pattern, psr: readPsr(body), pur: null };
  if (type === 'pattern-outcome') return { pattern, psr: null, pur: readPur(body) };
  return null;
}

/** The tools that record the outcome of a selected pattern. */
export const PATTERN_OUTCOME_TOOLS: readonly string[] = Object.keys(PATTERN_TOOLS).filter(
  (tool) => PATTERN_TOOLS[tool]?.does === 'settles',
);
