import type { Json } from '../spec/types.ts';
import { type Body, bodyOf } from './bodies.ts';
import { type Cycle, learningCycles } from './cycles.ts';
import { fieldsOf, text, texts } from './dialects/fields.ts';
import type { Entry } from './entry.ts';
import { inferPatterns, type Told } from './infer-patterns.ts';
import { errorsOf, type Par, type PatternUse, type PredictionError } from './par.ts';

/**
 * A post-action review, mined from a session's evidence since its last one: the facts first, the agent's own words added to them, never in
 * their place. Pure: the same entries give the same review.
 *
 * @param entries the session's, in order, from its beginning
 * @param stated the agent's own words: `what-went-well`, `what-could-improve`, `suggestions`, `prediction-errors`, `questions`
 */
export function minePar(entries: readonly Entry[], stated: { readonly [field: string]: Json }): Par {
  const all = entries.flatMap((entry): Told[] => {
    const body = bodyOf(entry.body);
    return body ? [{ entry, body }] : [];
  });
  const lastReview = all.findLastIndex(({ body }) => body.event === 'par');
  const told = all.slice(lastReview + 1);
  const first = told[0]?.entry ?? null;
  const last = told.at(-1)?.entry ?? null;
  const cycles = learningCycles(entries);
  const here = new Set(told.map(({ entry }) => entry.id));
  const recent = cycles.filter(
    ({ psrEntry, purEntry, open }) => open || here.has(psrEntry) || here.has(purEntry ?? ''),
  );
  const open = recent.filter((cycle) => cycle.open).map(({ pattern }) => pattern);
  const own: { readonly [field: string]: Json | undefined } = fieldsOf(stated) ?? {};
  return {
    'event/type': 'session/par',
    'par/id': null,
    'session/id': first?.sessionId ?? null,
    at: last?.at ?? null,
    'par/sequence': of(all, 'par').length + 1,
    'par/span': { from: first?.id ?? null, to: last?.id ?? null },
    'par/tags': [],
    problem: null,
    approach: of(told, 'start').map(({ body }) => body.peripheral),
    result: null,
    patterns_used: [...recorded(recent), ...inferPatterns(all, here)],
    what_went_well: [...wentWell(told, recent), ...texts(own['what-went-well'])],
    what_could_improve: [...couldImprove(told, recent), ...texts(own['what-could-improve'])],
    prediction_errors: [...predictionErrors(told, recent), ...errorsOf(own['prediction-errors'])],
    suggestions: [...suggestions(told, open), ...texts(own['suggestions'])],
    open_selections: open,
    files_touched: filesTouched(told),
    commits: commits(told),
    questions: fieldsOf(own['questions']) ? (own['questions'] as { [question: string]: Json }) : {},
    lineage_trace: {
      entries: told.length,
      peripherals: of(told, 'start').map(({ body }) => body.peripheral),
      hops: of(told, 'hop').map(({ entry, body }) => ({
        entry: entry.id,
        from: body.from,
        exit: body.exit,
        to: body.to,
        ...(body.reframe ? { reframe: { ...body.reframe } } : {}),
      })),
    },
  };
}

type Of<E extends Body['event']> = { readonly entry: Entry; readonly body: Extract<Body, { event: E }> };

const of = <E extends Body['event']>(told: readonly Told[], event: E): Of<E>[] =>
  told.flatMap(({ entry, body }) => (body.event === event ? [{ entry, body } as Of<E>] : []));

const results = (told: readonly Told[]) => [...of(told, 'step'), ...of(told, 'outcome')];

/** `2 × out-of-scope`: each once, the most frequent first. */
function counted(items: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a).map(([item, times]) => `${times} × ${item}`);
}

function recorded(cycles: readonly Cycle[]): PatternUse[] {
  const uses = new Map<string, PatternUse>();
  for (const { pattern, pur } of cycles) {
    const before = uses.get(pattern);
    const outcome = pur?.outcome ?? before?.outcome ?? null;
    uses.set(pattern, { pattern, count: (before?.count ?? 0) + 1, inferred: false, outcome });
  }
  return [...uses.values()];
}

function wentWell(told: readonly Told[], cycles: readonly Cycle[]): string[] {
  const fruits = of(told, 'stop').flatMap(({ body: { peripheral, fruit } }) => {
    const said: string[] = [];
    const { result, pushed, deployed } = fruit;
    if (result === 'pass') said.push(`${peripheral}: the tests passed`);
    if (pushed === true) said.push(`${peripheral}: the change was pushed`);
    if (deployed === true) said.push(`${peripheral}: the deployment ran`);
    return said;
  });
  const held = cycles.filter(({ pur }) => pur?.held).map(({ pattern }) => `pattern ${pattern} held`);
  return counted([...fruits, ...held]);
}

function couldImprove(told: readonly Told[], cycles: readonly Cycle[]): string[] {
  return counted([
    ...of(told, 'denial').map(({ body }) => {
      const { tool } = body.about;
      return `denied: ${body.code}${typeof tool === 'string' ? ` (${tool})` : ''}`;
    }),
    ...results(told).flatMap(({ body: { tool, outcome } }) =>
      outcome.status === 'failed' ? [`failed: ${tool}, ${outcome.code}`] : [],
    ),
    ...of(told, 'interrupted').map(({ body }) => `interrupted: ${body.tool}, its outcome is unknown`),
    ...of(told, 'expired').map(({ body }) => `time limit of ${body.peripheral} passed`),
    ...of(told, 'stop').flatMap(({ body: { peripheral, fruit } }) =>
      fruit['result'] === 'flaky' ? [`${peripheral}: a test run was flaky`] : [],
    ),
    ...of(told, 'hop').flatMap(({ body: { from, to, reframe } }) =>
      reframe ? [`reframe: ${from} back to ${to}, expected ${reframe.expected}, got ${reframe.actual}`] : [],
    ),
    ...cycles.flatMap(({ pattern, pur, open }) => {
      if (open) return [`pattern ${pattern}: its outcome was ${pur ? 'deferred' : 'not told'}`];
      return pur && pur.outcome !== 'success' ? [`pattern ${pattern}: ${pur.outcome}`] : [];
    }),
  ]);
}

/** Expected exits against the real ones, and what was expected of patterns against what came. */
function predictionErrors(told: readonly Told[], cycles: readonly Cycle[]): PredictionError[] {
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
  return [...exitErrors(told), ...patterns];
}

/** A hop back because an exit did not hold, or a passing exit that was claimed while the tests did not pass: one error a visit. */
function exitErrors(told: readonly Told[]): PredictionError[] {
  const errors = new Map<string, PredictionError>();
  let visit = 0;
  let verdict: string | null = null;
  let fruit: { readonly [field: string]: Json } = {};
  const add = (expected: string, actual: string, magnitude: number) =>
    errors.set(JSON.stringify([visit, expected, actual]), { expected, actual, magnitude });
  for (const { body } of told) {
    if (body.event === 'start') visit += 1;
    if (body.event === 'stop') fruit = body.fruit;
    if ((body.event === 'step' || body.event === 'outcome') && body.outcome.status === 'ok')
      verdict = text(fieldsOf(body.outcome.result)?.['verdict']) ?? verdict;
    if (body.event === 'denial' && body.code === 'exit-not-met' && body.about['exit'] === 'pass')
      if (verdict !== null && verdict !== 'pass') add('pass', verdict, 1);
    if (body.event === 'hop' && body.reframe)
      add(body.reframe.expected, body.reframe.actual, howFarOff(body.reframe.actual, fruit));
  }
  return [...errors.values()];
}

/** The share of the tests that failed, where it is known; a flaky run is half off, anything else wholly. */
function howFarOff(actual: string, fruit: { readonly [field: string]: Json }): number {
  if (actual === 'flaky') return 0.5;
  const { failures, 'test-count': count } = fruit;
  if (!Array.isArray(failures) || typeof count !== 'number' || count < 1 || failures.length < 1) return 1;
  return Math.round(Math.min(1, failures.length / count) * 100) / 100;
}

const MOST_SUGGESTIONS = 5;

/** The remedies that were needed, the most frequent first, and what is still to be told. */
function suggestions(told: readonly Told[], open: readonly string[]): string[] {
  return [
    ...counted(of(told, 'denial').map(({ body }) => `${body.code}: ${body.remedy}`)).slice(0, MOST_SUGGESTIONS),
    ...open.map((pattern) => `tell what came of ${pattern} (pur-update), so that it can be judged`),
  ];
}

function filesTouched(told: readonly Told[]): string[] {
  const files = of(told, 'outcome').flatMap(({ body }) =>
    body.effects === 'unobserved'
      ? []
      : body.effects.filter(({ op }) => !UNTOUCHED.includes(op)).map(({ path }) => path),
  );
  return [...new Set(files)];
}

const UNTOUCHED = ['ref', 'connect', 'read', 'execute'];

function commits(told: readonly Told[]): string[] {
  const shas = told.flatMap(({ body }) => {
    if (body.event === 'stop') return [body.fruit['sha']];
    if (body.event !== 'outcome' || body.outcome.status !== 'ok') return [];
    const { committed, sha } = fieldsOf(body.outcome.result) ?? {};
    return committed === true ? [sha] : [];
  });
  return [...new Set(shas.filter((sha) => typeof sha === 'string'))];
}
