import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readPar } from '../../src/evidence/patterns/par.ts';
import { readPsr } from '../../src/evidence/patterns/psr.ts';
import { HELD_BY_OUTCOME, PATTERN_OUTCOMES, readPur } from '../../src/evidence/patterns/pur.ts';
import { summariseReviews } from '../../src/evidence/patterns/summarise-reviews.ts';
import type { Json } from '../../src/spec/types.ts';

describe('a selection in its dialects', () => {
  it.each<[string, Json, object]>([
    [
      'slash',
      { query: 'q', selected: 'a/b', candidates: ['a/b', 'c'], rationale: 'r', confidence: 'high', sigil: '※' },
      { kind: 'selection', pattern: 'a/b' },
    ],
    [
      'gate',
      {
        'psr/id': 'psr-1',
        'task-id': 't',
        type: ':selection',
        'pattern-ref': { 'ref/type': 'pattern', 'ref/id': 'a' },
        rationale: 'r',
      },
      { kind: 'selection', pattern: 'a' },
    ],
    ['gap', { 'psr/id': 'psr-2', type: 'gap', rationale: 'none fits' }, { kind: 'gap', pattern: null }],
    [
      'discipline',
      { kind: 'psr', tool: 'psr-select', 'pattern-id': ':a', result: { 'pattern-id': 'a' } },
      { pattern: 'a' },
    ],
  ])('is read from the form: %s', (_, value, read) => expect(readPsr(value)).toMatchObject(read));

  it('must have a pattern or a gap', () => {
    const values: Json[] = [null, 1, 'a', [], {}, { query: 'q' }, { pattern: ' ' }];
    for (const value of values) expect(readPsr(value)).toBeNull();
  });
});

describe('an outcome in its dialects', () => {
  it.each<[Json, string]>([
    [{ outcome: 'success' }, 'success'],
    [{ outcome: ':partial' }, 'partial'],
    [{ 'pur/outcome': 'FAILED' }, 'failed'],
    [{ outcome: 'pivoted' }, 'pivoted'],
    [{ outcome: 'deferred' }, 'deferred'],
    [{ 'success?': true }, 'success'],
    [{ success: false }, 'failed'],
    [{ ok: true }, 'success'],
    [{ held: false }, 'failed'],
    [{ status: 'worked' }, 'success'],
    [{ kind: 'pur', result: { 'success?': false } }, 'failed'],
  ])('is read: %j is %s', (value, outcome) => expect(readPur(value)?.outcome).toBe(outcome));

  it('keeps the gate’s verdict', () => {
    expect(
      readPur({
        'pur/id': 'pur-1',
        'psr-ref': 'psr-1',
        outcome: 'partial',
        'criteria-eval': { a: true },
        'prediction-error': 'medium',
      }),
    ).toMatchObject({ psr: 'psr-1', held: false, predictionError: 0.5 });
  });

  it('is not read from a value without a verdict', () => {
    const values: Json[] = [null, 'success', {}, { outcome: 'splendid' }, { success: {} }];
    for (const value of values) expect(readPur(value)).toBeNull();
  });

  it('reads its own form back', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...PATTERN_OUTCOMES),
        fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
        (outcome, predictionError) => {
          const read = readPur({
            pattern: 'a',
            psr: 'e-1',
            outcome,
            held: HELD_BY_OUTCOME[outcome],
            predictionError,
          });
          expect(read).toMatchObject({
            pattern: 'a',
            psr: 'e-1',
            outcome,
            held: HELD_BY_OUTCOME[outcome],
            predictionError,
          });
          expect(readPur(read as unknown as Json)).toEqual(read);
        },
      ),
    );
  });
});

describe('a review in its dialects', () => {
  it.each<[string, Json, object]>([
    [
      'draft',
      {
        'event/type': 'session/par',
        'session/id': 's',
        patterns_used: [{ pattern: 'a', count: 2, inferred: true }, 'b'],
        what_went_well: ['w'],
        prediction_errors: [{ expected: 'x', actual: 'y', magnitude: 0.3 }],
        lineage_trace: { n: 1 },
      },
      {
        'session/id': 's',
        patterns_used: [
          { pattern: 'a', count: 2, inferred: true },
          { pattern: 'b', count: 1, inferred: false },
        ],
        what_went_well: ['w'],
        prediction_errors: [{ expected: 'x', actual: 'y', magnitude: 0.3 }],
        lineage_trace: { n: 1 },
      },
    ],
    [
      'gate',
      { 'par/id': 'par-1', 'session-ref': 's', 'what-worked': 'w', 'what-didnt': ['d'], suggestions: ['s'] },
      { 'par/id': 'par-1', 'session/id': 's', what_went_well: ['w'], what_could_improve: ['d'], suggestions: ['s'] },
    ],
    [
      'MUSN',
      {
        'event/type': 'session/par',
        'par/sequence': 2,
        'par/span': { 'from-eid': 'a', 'to-eid': 'b' },
        'par/questions': { learned: 'l' },
        'par/tags': ['detach'],
      },
      { 'par/sequence': 2, 'par/span': { from: 'a', to: 'b' }, questions: { learned: 'l' }, 'par/tags': ['detach'] },
    ],
    [
      'peripheral',
      { peripheral: 'reflect', par: { problem: 'p', approach: ['read'], result: 'r' } },
      { problem: 'p', approach: ['read'], result: 'r' },
    ],
  ])('is read from the form: %s', (_, value, read) => expect(readPar(value)).toMatchObject(read));

  it('reads its own form back, and no other entry as a review', () => {
    const own = readPar({ 'what-worked': ['w'], suggestions: ['s'] })!;
    expect(readPar(own)).toEqual(own);
    const values: Json[] = [null, 'x', [], {}, { result: 'r' }];
    for (const value of values) expect(readPar(value)).toBeNull();
  });
});

describe('the sum of several reviews', () => {
  const par = (wrong: string[], used: Json[]) => readPar({ what_could_improve: wrong, patterns_used: used })!;

  it('lists recurring problems: first by the number of reviews, then by the number of occurrences', () => {
    const { wrong } = summariseReviews([par(['9 × slow'], []), par(['1 × late', 'rude'], []), par(['2 × late'], [])]);
    expect(wrong).toEqual([
      { text: 'late', times: 3, reviews: 2 },
      { text: 'slow', times: 9, reviews: 1 },
      { text: 'rude', times: 1, reviews: 1 },
    ]);
  });

  it('gives the share of successes of each pattern, not counting deferred outcomes', () => {
    const use = (pattern: string, outcome: string | null) => ({ pattern, count: 1, inferred: false, outcome });
    const { patterns } = summariseReviews([
      par([], [use('a', 'success'), use('b', 'failed')]),
      par([], [use('a', 'partial'), use('c', 'deferred')]),
    ]);
    expect(patterns.map(({ pattern, held }) => [pattern, held])).toEqual([
      ['a', 0.5],
      ['b', 0],
      ['c', null],
    ]);
  });

  it('lists each text once, in a fixed order', () => {
    const { wrong } = summariseReviews([
      par(['12 × a\nb', 'x 3 × y', '2 × ', 'b', 'b'], []),
      par(['3 × c', 'd', '3 × e'], []),
    ]);
    expect(wrong).toEqual([
      { text: 'a\nb', times: 12, reviews: 1 },
      { text: 'c', times: 3, reviews: 1 },
      { text: 'e', times: 3, reviews: 1 },
      { text: 'b', times: 2, reviews: 1 },
      { text: '2 ×', times: 1, reviews: 1 },
      { text: 'd', times: 1, reviews: 1 },
      { text: 'x 3 × y', times: 1, reviews: 1 },
    ]);
    expect(summariseReviews([par([], []), par(['b', 'a'], [])]).wrong.map(({ text }) => text)).toEqual(['a', 'b']);
  });

  it('has for each pattern the selections, the inferred uses, the outcomes and the prediction errors', () => {
    const use = (pattern: string, count: number, inferred: boolean, outcome: string | null) => ({
      pattern,
      count,
      inferred,
      outcome,
    });
    const review = (used: Json[], errors: number) =>
      readPar({ patterns_used: used, prediction_errors: new Array(errors).fill('off'), suggestions: ['s'] })!;
    const { patterns } = summariseReviews([
      review([use('b', 2, false, 'success'), use('a', 1, false, 'failed'), use('a', 4, true, null)], 3),
      review([use('b', 1, false, 'deferred'), use('d', 5, false, null)], 0),
      review([use('c', 1, true, null), use('e', 1, false, 'failed')], 2),
    ]);
    expect(patterns.map(({ pattern }) => pattern)).toEqual(['b', 'a', 'e', 'd', 'c']);
    expect(patterns[0]).toEqual({
      pattern: 'b',
      selected: 3,
      inferred: 0,
      outcomes: { success: 1, partial: 0, failed: 0, pivoted: 0, deferred: 1 },
      held: 1,
      errorsWith: 1.5,
      errorsWithout: 2,
    });
    expect(patterns[1]).toMatchObject({ selected: 1, inferred: 4, held: 0, errorsWith: 3, errorsWithout: 1 });
    expect(patterns[4]).toMatchObject({ selected: 0, inferred: 1, held: null, errorsWith: 2, errorsWithout: 1.5 });
    const everywhere = summariseReviews([review([use('a', 1, false, 'success')], 1)]).patterns[0];
    expect(everywhere).toMatchObject({ errorsWith: 1, errorsWithout: null });
  });
});
