import { FILE_CHANGE_EFFECT_KINDS } from '../../spec/policy/effect-ops.ts';
import type { Fields, Json } from '../../spec/types.ts';
import { type Body, toBody } from '../bodies.ts';
import { readFieldText, readFieldTexts, toDialectRecord } from '../dialects/fields.ts';
import type { Entry } from '../entry.ts';
import { type EntryWithBody, inferPatterns } from './infer-patterns.ts';
import { findLearningCycles, type LearningCycle } from './learning-cycles.ts';
import { type Par, type PatternUse, type PredictionError, readPredictionErrors } from './par.ts';
import { reviewTextOfRefusal, reviewTextOfTimeLimit } from './review-problems.ts';

/**
 * Builds a post-action review from a session's evidence since its last review. The agent's own words are added to the
 * facts and never replace them. Pure: the same entries give the same review.
 * @param entries all entries of the session, in order
 * @param stated the agent's own words: `what-went-well`, `what-could-improve`, `suggestions`, `prediction-errors`,
 *   `questions`
 */
export function deriveReview(entries: readonly Entry[], stated: Fields): Par {
  const all = entries.flatMap((entry): EntryWithBody[] => {
    const body = toBody(entry.body);
    return body ? [{ entry, body }] : [];
  });
  const lastReview = all.findLastIndex(({ body }) => body.event === 'par');
  const recent = all.slice(lastReview + 1);
  const first = recent[0]?.entry ?? null;
  const last = recent.at(-1)?.entry ?? null;
  const cycles = findLearningCycles(entries);
  const recentIds = new Set(recent.map(({ entry }) => entry.id));
  const recentCycles = cycles.filter(
    ({ psrEntry, purEntry, open }) => open || recentIds.has(psrEntry) || recentIds.has(purEntry ?? ''),
  );
  const open = recentCycles.filter((cycle) => cycle.open).map(({ pattern }) => pattern);
  const ownWords: { readonly [field: string]: Json | undefined } = toDialectRecord(stated) ?? {};
  return {
    'event/type': 'session/par',
    'par/id': null,
    'session/id': first?.sessionId ?? null,
    at: last?.at ?? null,
    'par/sequence': entriesOf(all, 'par').length + 1,
    'par/span': { from: first?.id ?? null, to: last?.id ?? null },
    'par/tags': [],
    problem: null,
    approach: entriesOf(recent, 'start').map(({ body }) => body.peripheral),
    result: null,
    patterns_used: [...recordedUses(recentCycles), ...inferPatterns(all, recentIds)],
    what_went_well: [...wentWell(recent, recentCycles), ...readFieldTexts(ownWords['what-went-well'])],
    what_could_improve: [...couldImprove(recent, recentCycles), ...readFieldTexts(ownWords['what-could-improve'])],
    prediction_errors: [
      ...predictionErrors(recent, recentCycles),
      ...readPredictionErrors(ownWords['prediction-errors']),
    ],
    suggestions: [...suggestions(recent, open), ...readFieldTexts(ownWords['suggestions'])],
    open_selections: open,
    files_touched: filesTouched(recent),
    commits: commitTitles(recent),
    questions: toDialectRecord(ownWords['questions']) ? (ownWords['questions'] as { [question: string]: Json }) : {},
    lineage_trace: {
      entries: recent.length,
      peripherals: entriesOf(recent, 'start').map(({ body }) => body.peripheral),
      hops: entriesOf(recent, 'hop').map(({ entry, body }) => ({
        entry: entry.id,
        from: body.from,
        exit: body.exit,
        to: body.to,
        ...(body.reframe ? { reframe: { ...body.reframe } } : {}),
      })),
    },
  };
}

type EntryOf<E extends Body['event']> = { readonly entry: Entry; readonly body: Extract<Body, { event: E }> };

const entriesOf = <E extends Body['event']>(recent: readonly EntryWithBody[], event: E): EntryOf<E>[] =>
  recent.flatMap(({ entry, body }) => (body.event === event ? [{ entry, body } as EntryOf<E>] : []));

const results = (recent: readonly EntryWithBody[]) => [...entriesOf(recent, 'step'), ...entriesOf(recent, 'outcome')];

/** Counts equal items as `2 × out-of-scope`; the most frequent first. */
function countItems(items: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a).map(([item, times]) => `${times} × ${item}`);
}

function recordedUses(cycles: readonly LearningCycle[]): PatternUse[] {
  const uses = new Map<string, PatternUse>();
  for (const { pattern, pur } of cycles) {
    const before = uses.get(pattern);
    const outcome = pur?.outcome ?? before?.outcome ?? null;
    uses.set(pattern, { pattern, count: (before?.count ?? 0) + 1, inferred: false, outcome });
  }
  return [...uses.values()];
}

function wentWell(recent: readonly EntryWithBody[], cycles: readonly LearningCycle[]): string[] {
  const fruits = entriesOf(recent, 'stop').flatMap(({ body: { peripheral, fruit } }) => {
    const results: string[] = [];
    const { result, pushed, deployed } = fruit;
    if (result === 'pass') results.push(`${peripheral}: the tests passed`);
    if (pushed === true) results.push(`${peripheral}: the change was pushed`);
    if (deployed === true) results.push(`${peripheral}: the deployment ran`);
    return results;
  });
  const held = cycles.filter(({ pur }) => pur?.held).map(({ pattern }) => `pattern ${pattern} held`);
  return countItems([...fruits, ...held]);
}

function couldImprove(recent: readonly EntryWithBody[], cycles: readonly LearningCycle[]): string[] {
  return countItems([
    ...entriesOf(recent, 'denial').map(({ body }) => {
      const { tool } = body.about;
      return reviewTextOfRefusal(body.code, typeof tool === 'string' ? tool : null);
    }),
    ...results(recent).flatMap(({ body: { tool, outcome } }) =>
      outcome.status === 'failed' ? [`failed: ${tool}, ${outcome.code}`] : [],
    ),
    ...entriesOf(recent, 'interrupted').map(({ body }) => `interrupted: ${body.tool}, its outcome is unknown`),
    ...entriesOf(recent, 'expired').map(({ body }) => reviewTextOfTimeLimit(body.peripheral)),
    ...entriesOf(recent, 'stop').flatMap(({ body: { peripheral, fruit } }) =>
      fruit['result'] === 'flaky' ? [`${peripheral}: a test run was flaky`] : [],
    ),
    ...entriesOf(recent, 'hop').flatMap(({ body: { from, to, reframe } }) =>
      reframe ? [`reframe: ${from} back to ${to}, expected ${reframe.expected}, got ${reframe.actual}`] : [],
    ),
    ...cycles.flatMap(({ pattern, pur, open }) => {
      if (open) return [`pattern ${pattern}: its outcome was ${pur ? 'deferred' : 'not recorded'}`];
      return pur && pur.outcome !== 'success' ? [`pattern ${pattern}: ${pur.outcome}`] : [];
    }),
  ]);
}

/** Compares the expected with the actual exits, and each pattern's expectation with its outcome. */
function predictionErrors(recent: readonly EntryWithBody[], cycles: readonly LearningCycle[]): PredictionError[] {
  const patterns = cycles.flatMap(({ pattern, pur }) =>
    pur && (pur.predictionError ?? 0) > 0
      ? [
          {
            expected: pur.expected ?? `${pattern} holds`,
            actual: pur.actual ?? pur.outcome,
            magnitude: pur.predictionError,
          },
        ]
      : [],
  );
  return [...exitErrors(recent), ...patterns];
}

/** One error for each visit that hopped back because an exit did not hold, or claimed a pass after failed tests. */
function exitErrors(recent: readonly EntryWithBody[]): PredictionError[] {
  const errors = new Map<string, PredictionError>();
  let visit = 0;
  let verdict: string | null = null;
  let fruit: Fields = {};
  const add = (expected: string, actual: string, magnitude: number) =>
    errors.set(JSON.stringify([visit, expected, actual]), { expected, actual, magnitude });
  for (const { body } of recent) {
    if (body.event === 'start') visit += 1;
    if (body.event === 'stop') fruit = body.fruit;
    if ((body.event === 'step' || body.event === 'outcome') && body.outcome.status === 'ok')
      verdict = readFieldText(toDialectRecord(body.outcome.result)?.['verdict']) ?? verdict;
    if (body.event === 'denial' && body.code === 'exit-not-met' && body.about['exit'] === 'pass')
      if (verdict !== null && verdict !== 'pass') add('pass', verdict, 1);
    if (body.event === 'hop' && body.reframe)
      add(body.reframe.expected, body.reframe.actual, sizeOfExitError(body.reframe.actual, fruit));
  }
  return [...errors.values()];
}

/** Size of an exit's prediction error: the share of failed tests if known; 0.5 for a flaky run, 1 for anything else. */
function sizeOfExitError(actual: string, fruit: Fields): number {
  if (actual === 'flaky') return 0.5;
  const { failures, 'test-count': count } = fruit;
  if (!Array.isArray(failures) || typeof count !== 'number' || count < 1 || failures.length < 1) return 1;
  return Math.round(Math.min(1, failures.length / count) * 100) / 100;
}

const MAX_SUGGESTIONS = 5;

/** The remedies of the denials, the most frequent first, and a reminder of each selection without an outcome. */
function suggestions(recent: readonly EntryWithBody[], open: readonly string[]): string[] {
  return [
    ...countItems(entriesOf(recent, 'denial').map(({ body }) => `${body.code}: ${body.remedy}`)).slice(
      0,
      MAX_SUGGESTIONS,
    ),
    ...open.map((pattern) => `record the outcome of ${pattern} (pur-update), so that it can be judged`),
  ];
}

function filesTouched(recent: readonly EntryWithBody[]): string[] {
  const files = entriesOf(recent, 'outcome').flatMap(({ body }) =>
    body.effects === 'unobserved'
      ? []
      : body.effects.filter(({ op }) => FILE_CHANGE_EFFECT_KINDS.includes(op)).map(({ path }) => path),
  );
  return [...new Set(files)];
}

function commitTitles(recent: readonly EntryWithBody[]): string[] {
  const shas = recent.flatMap(({ body }) => {
    if (body.event === 'stop') return [body.fruit['sha']];
    if (body.event !== 'outcome' || body.outcome.status !== 'ok') return [];
    const { committed, sha } = toDialectRecord(body.outcome.result) ?? {};
    return committed === true ? [sha] : [];
  });
  return [...new Set(shas.filter((sha) => typeof sha === 'string'))];
}
