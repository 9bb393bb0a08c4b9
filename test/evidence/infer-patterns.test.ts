import { expect, it } from 'vitest';
import type { Body } from '../../src/evidence/bodies.ts';
import { deriveReview } from '../../src/evidence/patterns/derive-review.ts';
import { FILE_CHANGE_EFFECT_KINDS } from '../../src/spec/policy/effect-ops.ts';
import { failure, hop, outcome, sealedEntries, start, step } from './sealed-entries.ts';

const seen = (...bodies: Parameters<typeof sealedEntries>) =>
  Object.fromEntries(
    deriveReview(sealedEntries(...bodies), {}).patterns_used.map(({ pattern, count }) => [pattern, count]),
  );

const look = (path: string) => step('read', {}, [['read', path]]);
const change = (path: string, op = 'modify') => outcome('edit', {}, [[op, path]]);
const test = (verdict: string) => step('bash-test', { verdict });

it('inferred patterns are marked as inferred and have no outcome', () =>
  expect(deriveReview(sealedEntries(look('a'), change('a')), {}).patterns_used).toEqual([
    { pattern: 'read-before-edit', count: 1, inferred: true, outcome: null },
  ]));

it.each<[string, Body[], object]>([
  ['a file that was read before', [look('b'), look('a'), change('a'), change('a')], { 'read-before-edit': 2 }],
  [
    'a file that a search showed',
    [step('grep', { matches: [{ path: 'a' }, 'x'] }), change('a')],
    { 'read-before-edit': 1 },
  ],
  ['a search whose matches are not a list', [step('grep', { matches: 'a' }), change('a')], {}],
  ['a match whose path is not text', [step('grep', { matches: [{ path: 1 }] }), change('1')], {}],
  ['another file', [look('b'), change('a')], {}],
  ['a file that was read afterwards', [change('a'), look('a')], {}],
  ['an effect that is not a change', [look('a'), change('a', 'execute')], {}],
  ['an unobserved effect', [look('a'), outcome('bash', {}, 'unobserved')], {}],
  ['a change that failed', [look('a'), failure('outcome', 'edit', 'x', [['modify', 'a']])], {}],
])('read-before-edit is found only for a file that was read or shown before its change: %s', (_, bodies, patterns) =>
  expect(seen(...bodies)).toEqual(patterns),
);

it.each(FILE_CHANGE_EFFECT_KINDS)('%s counts as a change', (op) =>
  expect(seen(look('a'), change('a', op))).toEqual({ 'read-before-edit': 1 }),
);

it.each<[string, Body[], object]>([
  ['a failing test before the first change', [test('fail'), test('fail'), change('a')], { 'reproduce-first': 1 }],
  ['a passing test before the first change', [test('pass'), change('a')], {}],
  ['a failing test after the first change', [change('a'), test('fail'), change('a')], { 'test-after-change': 1 }],
  ['a failing test without any change', [test('fail')], {}],
])('reproduce-first is found only if a test failed before the first change: %s', (_, bodies, patterns) =>
  expect(seen(...bodies)).toEqual(patterns),
);

it.each<[string, Body[], object]>([
  [
    'two changes, each with a test',
    [change('a'), test('pass'), look('a'), change('b'), test('fail')],
    { 'test-after-change': 2 },
  ],
  ['two tests after one change', [change('a'), test('pass'), test('pass')], { 'test-after-change': 1 }],
  ['a read between change and test', [change('a'), look('c'), test('pass')], { 'test-after-change': 1 }],
  ['a test without a change', [test('pass')], {}],
  ['a flaky result', [change('a'), test('flaky')], {}],
])('test-after-change is found for each change with a test result after it: %s', (_, bodies, patterns) =>
  expect(seen(...bodies)).toEqual(patterns),
);

it('a hop back after a failed expectation is recognised', () => {
  expect(seen(hop('test', 'edit', { expected: 'pass', actual: 'fail' }))).toEqual({ 'reframe-on-failure': 1 });
  expect(seen(hop('test', 'edit'), start('edit'))).toEqual({});
});

it('entries before the last review are context, and only later ones are counted', () => {
  const review = { body: { event: 'par', par: {} } };
  expect(seen(look('a'), change('a'), review, change('a'), test('pass'))).toEqual({
    'read-before-edit': 1,
    'test-after-change': 1,
  });
  expect(seen(look('a'), change('a'), review)).toEqual({});
});
