import { describe, expect, it } from 'vitest';
import { findLearningCycles, PATTERN_OUTCOME_TOOLS } from '../../src/evidence/patterns/learning-cycles.ts';
import { patternStatusAfter, patternToolOfEntry } from '../../src/evidence/patterns/pattern-tools.ts';
import { readPur } from '../../src/evidence/patterns/pur.ts';
import type { Json } from '../../src/spec/types.ts';
import { failure, outcome, sealedEntries, start, step } from './sealed-entries.ts';

const rounds = (...entries: Parameters<typeof sealedEntries>) =>
  findLearningCycles(sealedEntries(...entries)).map(
    ({ pattern, psrEntry, pur, purEntry, open }) =>
      `${pattern} ${psrEntry} ${pur?.outcome ?? '-'} ${purEntry ?? '-'}${open ? ' open' : ''}`,
  );
const select = (pattern: string, more: object = {}) => step('psr-select', { pattern, ...more } as Json);
const settle = (pattern: string, verdict: string, more: object = {}) =>
  step('pur-update', { pattern, outcome: verdict, ...more } as Json);
const foreign = (type: 'pattern-selection' | 'pattern-outcome', body: Json, patternId?: string) => ({
  type,
  body,
  ...(patternId ? { patternId } : {}),
});

describe('a learning cycle', () => {
  it('begins with a selection and ends with an outcome', () => {
    expect(rounds(select('a'), start('edit'), settle('a', 'success'))).toEqual(['a e0 success e2']);
    expect(rounds(select('a'))).toEqual(['a e0 - - open']);
    expect(rounds(select('a'), settle('a', 'deferred'))).toEqual(['a e0 deferred e1 open']);
    expect(rounds(select('a'), settle('a', 'deferred'), settle('a', 'failed'))).toEqual(['a e0 failed e2']);
  });

  it('ends with the outcome that names it; an outcome without a name ends the last open cycle of the pattern', () => {
    expect(rounds(select('a'), select('a'), settle('a', 'success'))).toEqual(['a e0 - - open', 'a e1 success e2']);
    expect(rounds(select('a'), select('a'), settle('a', 'failed', { psr: 'e0' }))).toEqual([
      'a e0 failed e2',
      'a e1 - - open',
    ]);
    expect(rounds(select('a'), settle('a', 'success'), settle('a', 'failed'))).toEqual(['a e0 success e1']);
  });

  it('does not begin with a search, a gap, a failed call or an acting tool', () => {
    expect(rounds(step('psr-search', { pattern: 'a', query: 'q' }))).toEqual([]);
    expect(rounds(failure('step', 'psr-select', 'x'))).toEqual([]);
    expect(rounds(outcome('psr-select', { pattern: 'a' }))).toEqual([]);
    expect(rounds(foreign('pattern-selection', { 'psr/id': 'p', type: 'gap', rationale: 'none fits' }))).toEqual([]);
    expect(rounds(settle('a', 'success'))).toEqual([]);
  });

  it('is recognised in other programs’ entries in their own dialect', () => {
    expect(
      rounds(
        foreign('pattern-selection', { selected: 'x/a', query: 'q' }),
        foreign('pattern-selection', { selected: 'in the text', query: 'q' }, 'x/b'),
        foreign('pattern-outcome', { 'success?': true }, 'x/a'),
        foreign('pattern-outcome', { outcome: 'partial', pattern: 'x/b' }),
        { type: 'coordination', body: { selected: 'x/c' } },
      ),
    ).toEqual(['x/a e0 success e2', 'x/b e1 partial e3']);
  });

  it('ends with pur-update or pur-mark-pivot', () =>
    expect(PATTERN_OUTCOME_TOOLS).toEqual(['pur-update', 'pur-mark-pivot']));
});

describe('an entry of a discipline tool', () => {
  it.each([
    ['psr-search', 'pattern-selection', 'question', 'psr', null, 'visit', null],
    ['psr-select', 'pattern-selection', 'goal', 'psr', 'a', 'visit', 'selects'],
    ['pur-update', 'pattern-outcome', 'evidence', 'pur', 'a', 'selection', 'settles'],
    ['pur-mark-pivot', 'correction', 'correction', 'pivot', 'a', 'selection', 'settles'],
    ['par-punctuate', 'reflection', 'conclusion', 'par', null, 'visit', null],
  ])('is classified by its tool %s', (tool, type, claim, tag, pattern, repliesTo, does) =>
    expect(patternToolOfEntry(step(tool, { pattern: 'a' }))).toEqual({
      type,
      claim,
      tag,
      pattern,
      repliesTo,
      does,
      subject: pattern === null ? 'session' : 'pattern',
    }),
  );

  it('names its pattern in the result, or else in the arguments', () => {
    const asked = { ...step('psr-select', 'nothing'), args: { pattern: 'b' } } as never;
    expect(patternToolOfEntry(asked)?.pattern).toBe('b');
    for (const result of [
      { pattern: 'Not One' },
      { pattern: 7 },
      ['a'],
      null,
      'a',
      { pattern: '../a' },
      { pattern: 'a/' },
    ])
      expect(patternToolOfEntry(step('psr-select', result))?.pattern).toBeNull();
  });

  it.each([
    ['another tool', step('read', { pattern: 'a' })],
    ['a name of every object', step('constructor', { pattern: 'a' })],
    ['a call that failed', failure('step', 'psr-select', 'x')],
    ['an acting call', outcome('psr-select', { pattern: 'a' })],
  ])('is not made by %s', (_, body) => expect(patternToolOfEntry(body)).toBeNull());
});

describe('the status of a pattern', () => {
  const statusAfter = (tool: string, result: Json) => patternStatusAfter(tool, { status: 'ok', result });

  it('begins as selected', () =>
    expect(statusAfter('psr-select', { pattern: 'a' })).toEqual({ pattern: 'a', status: 'selected', selects: true }));

  it.each<[Json, string]>([
    [{ outcome: 'success' }, 'held'],
    [{ outcome: 'partial' }, 'failed'],
    [{ outcome: 'failed' }, 'failed'],
    [{ outcome: 'pivoted' }, 'failed'],
    [{ outcome: 'deferred' }, 'selected'],
    [{ held: true, outcome: 'failed' }, 'held'],
    [{ held: false, outcome: 'success' }, 'failed'],
    [{ held: 'yes', outcome: 'success' }, 'held'],
    [{}, 'failed'],
  ])('after %j is %s', (verdict, status) =>
    expect(statusAfter('pur-update', { pattern: 'a', ...(verdict as object) })).toEqual({
      pattern: 'a',
      status,
      selects: false,
    }),
  );

  it('is not changed by other entries', () => {
    for (const tool of ['psr-search', 'par-punctuate', 'read', 'constructor'])
      expect(statusAfter(tool, { pattern: 'a' })).toBeNull();
    for (const result of [null, [], { pattern: '' }, 'a']) expect(statusAfter('pur-update', result)).toBeNull();
    expect(patternStatusAfter('psr-select', { status: 'failed', code: 'x', message: 'y' })).toBeNull();
  });
});

it('an outcome is read from a word or a flag, and not from a record without either', () => {
  expect([readPur({ ok: true })?.outcome, readPur({ outcome: ':failed' })?.outcome, readPur({})]).toEqual([
    'success',
    'failed',
    null,
  ]);
});
