import type { Par } from './par.ts';
import { HELD_BY_OUTCOME, PATTERN_OUTCOMES, type PatternOutcome } from './pur.ts';

/** A text that several reviews may contain. */
export interface RecurringReviewText {
  readonly text: string;
  /** How often the text occurs in all reviews; an item `3 × text` counts as three occurrences. */
  readonly times: number;
  /** The number of reviews that contain the text. */
  readonly reviews: number;
}

/** Statistics of one pattern over all reviews. */
export interface PatternStatistics {
  readonly pattern: string;
  readonly selected: number;
  /** Times the pattern was inferred from actions without being selected. */
  readonly inferred: number;
  readonly outcomes: { readonly [outcome in PatternOutcome]: number };
  /** Share of the pattern's recorded outcomes in which it held, 0 to 1; null if none was recorded. */
  readonly held: number | null;
  /** Mean number of prediction errors of the reviews that used the pattern. */
  readonly errorsWith: number;
  readonly errorsWithout: number | null;
}

export interface ReviewSummary {
  readonly reviews: number;
  /** Recurring problems; the most frequent first. */
  readonly wrong: readonly RecurringReviewText[];
  readonly well: readonly RecurringReviewText[];
  readonly suggestions: readonly RecurringReviewText[];
  /** Patterns, sorted by how often they held, most often first. */
  readonly patterns: readonly PatternStatistics[];
}

/**
 * Summarises reviews: recurring problems, and the patterns that help. Pure.
 *
 * @example summariseReviews(entries.flatMap(({ body }) => readPar(body) ?? [])).wrong[0]
 */
export function summariseReviews(pars: readonly Par[]): ReviewSummary {
  return {
    reviews: pars.length,
    wrong: recurringItems(pars.map((par) => par.what_could_improve)),
    well: recurringItems(pars.map((par) => par.what_went_well)),
    suggestions: recurringItems(pars.map((par) => par.suggestions)),
    patterns: patternRecords(pars),
  };
}

function recurringItems(lists: readonly (readonly string[])[]): RecurringReviewText[] {
  const found = new Map<string, { times: number; reviews: number }>();
  for (const list of lists) {
    const here = new Set<string>();
    for (const item of list) {
      const [, times, text = item] = /^(\d+) × (.+)$/s.exec(item) ?? [];
      const before = found.get(text) ?? { times: 0, reviews: 0 };
      const reviews = before.reviews + (here.has(text) ? 0 : 1);
      found.set(text, { times: before.times + Number(times ?? 1), reviews });
      here.add(text);
    }
  }
  return [...found]
    .map(([text, counts]) => ({ text, ...counts }))
    .sort((a, b) => b.reviews - a.reviews || b.times - a.times || (a.text < b.text ? -1 : 1));
}

function patternRecords(pars: readonly Par[]): PatternStatistics[] {
  const names = [...new Set(pars.flatMap((par) => par.patterns_used.map(({ pattern }) => pattern)))];
  return names
    .map((pattern) => recordOf(pattern, pars))
    .sort((a, b) => (b.held ?? -1) - (a.held ?? -1) || b.selected - a.selected || (a.pattern < b.pattern ? -1 : 1));
}

function recordOf(pattern: string, pars: readonly Par[]): PatternStatistics {
  const uses = pars.flatMap((par) => par.patterns_used.filter((use) => use.pattern === pattern));
  const outcomes = uses.flatMap(({ outcome }) => outcome ?? []);
  const judged = outcomes.filter((outcome) => HELD_BY_OUTCOME[outcome] !== null);
  const [used, others] = [true, false].map((is) =>
    pars.filter((par) => par.patterns_used.some((use) => use.pattern === pattern) === is),
  ) as [Par[], Par[]];
  const sum = (inferred: boolean) =>
    uses.filter((use) => use.inferred === inferred).reduce((total, { count }) => total + count, 0);
  return {
    pattern,
    selected: sum(false),
    inferred: sum(true),
    outcomes: Object.fromEntries(
      PATTERN_OUTCOMES.map((outcome) => [outcome, outcomes.filter((each) => each === outcome).length]),
    ) as { [outcome in PatternOutcome]: number },
    held:
      judged.length === 0 ? null : round(judged.filter((outcome) => HELD_BY_OUTCOME[outcome]).length / judged.length),
    errorsWith: meanError(used) ?? 0,
    errorsWithout: meanError(others),
  };
}

const meanError = (pars: readonly Par[]): number | null =>
  pars.length === 0 ? null : round(pars.reduce((sum, par) => sum + par.prediction_errors.length, 0) / pars.length);

const round = (value: number): number => Math.round(value * 100) / 100;
