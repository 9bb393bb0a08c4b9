import { bodyOf } from './bodies.ts';
import { DISCIPLINE, disciplineOf } from './discipline.ts';
import type { EntryDraft } from './entry.ts';
import { type Psr, readPsr } from './psr.ts';
import { type Pur, readPur } from './pur.ts';

/** One round of learning: a pattern was selected, and what came of it. */
export interface Cycle {
  readonly pattern: string;
  /** Id of the entry that selected it. */
  readonly psrEntry: string;
  readonly psr: Psr;
  /** What came of it, by the last record; null: not told yet. */
  readonly pur: Pur | null;
  readonly purEntry: string | null;
  /** Nothing was told yet, or it was deferred. */
  readonly open: boolean;
}

/**
 * The rounds of learning in a session's entries, in order of selection. Entries that other programs wrote count by their type
 * (`pattern-selection`, `pattern-outcome`), in whichever dialect.
 */
export function learningCycles(
  entries: Iterable<Pick<EntryDraft, 'id' | 'type' | 'patternId' | 'body'>>,
): readonly Cycle[] {
  const cycles: Cycle[] = [];
  for (const entry of entries) {
    const told = recordOf(entry);
    if (told?.psr) {
      const pattern = told.pattern ?? told.psr.pattern;
      if (pattern !== null && told.psr.kind === 'selection')
        cycles.push({ pattern, psrEntry: entry.id, psr: told.psr, pur: null, purEntry: null, open: true });
    } else if (told?.pur) {
      const { pur } = told;
      const pattern = told.pattern ?? pur.pattern;
      const named = cycles.findIndex(({ psrEntry }) => psrEntry === pur.psr);
      const at = named >= 0 ? named : cycles.findLastIndex((cycle) => cycle.open && cycle.pattern === pattern);
      const cycle = cycles[at];
      if (cycle) cycles[at] = { ...cycle, pur, purEntry: entry.id, open: pur.held === null };
    }
  }
  return cycles;
}

function recordOf({ type, patternId, body }: Pick<EntryDraft, 'type' | 'patternId' | 'body'>) {
  const own = bodyOf(body);
  if (own) {
    const rule = disciplineOf(own);
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

/** The tools that settle a selection, for remedies. */
export const SETTLING_TOOLS: readonly string[] = Object.keys(DISCIPLINE).filter(
  (tool) => DISCIPLINE[tool]?.does === 'settles',
);
