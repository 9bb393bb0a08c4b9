import { describe, expect, it } from 'vitest';
import { splitWords } from '../../src/base/text.ts';
import { deriveReview } from '../../src/evidence/patterns/derive-review.ts';
import { removeToolOutput } from '../../src/evidence/patterns/remove-output.ts';
import { FILE_CHANGE_EFFECT_KINDS, OBSERVED_EFFECT_KINDS } from '../../src/spec/policy/effect-ops.ts';
import { denial, failure, hop, outcome, sealedEntries, start, step, stop } from './sealed-entries.ts';

it('a review does not change if the texts of the calls are removed from the entries', () => {
  const text = 'x'.repeat(10_000);
  const entries = sealedEntries(
    start('explore'),
    step('psr-select', { pattern: 'reproduce-first', expected: 'it fails' }),
    step('grep', { matches: [{ path: 'src/a.ts', text }], text }),
    outcome('edit', { text }, [['modify', 'src/a.ts']]),
    step('bash-test', { verdict: 'fail', text }),
    failure('step', 'read', 'not-found'),
    outcome('bash-git', { committed: true, sha: 'abc', text }, []),
    denial('exit-not-met', 'go on'),
    stop('explore', { result: 'flaky' }),
  );
  const short = entries.map(removeToolOutput);
  expect(deriveReview(short, {})).toEqual(deriveReview(entries, {}));
  expect(deriveReview(short, {}).patterns_used.map(({ pattern }) => pattern)).toEqual(
    splitWords('reproduce-first read-before-edit test-after-change'),
  );
  expect(deriveReview(short, {}).commits).toEqual(['abc']);
  expect(JSON.stringify(short).length).toBeLessThan(text.length);
});

describe('a review derived from evidence', () => {
  it('of no entries is empty', () =>
    expect(deriveReview([], {})).toEqual({
      'event/type': 'session/par',
      'par/id': null,
      'session/id': null,
      at: null,
      'par/sequence': 1,
      'par/span': { from: null, to: null },
      'par/tags': [],
      problem: null,
      approach: [],
      result: null,
      patterns_used: [],
      what_went_well: [],
      what_could_improve: [],
      prediction_errors: [],
      suggestions: [],
      open_selections: [],
      files_touched: [],
      commits: [],
      questions: {},
      lineage_trace: { entries: 0, peripherals: [], hops: [] },
    }));

  it('has the session’s peripherals, hops and time span', () => {
    const par = deriveReview(
      sealedEntries(start('explore'), stop('explore'), hop('explore', 'edit'), start('edit'), stop('edit'), {
        ...hop('edit', 'test', { expected: 'pass', actual: 'fail' }),
      }),
      {},
    );
    expect(par).toMatchObject({
      'session/id': 's-1',
      at: '2026-01-31T09:00:05.000Z',
      'par/span': { from: 'e0', to: 'e5' },
      approach: ['explore', 'edit'],
      lineage_trace: { entries: 6, peripherals: ['explore', 'edit'] },
    });
    expect(par.lineage_trace['hops']).toEqual([
      { entry: 'e2', from: 'explore', exit: 'hop-edit', to: 'edit' },
      {
        entry: 'e5',
        from: 'edit',
        exit: 'hop-test',
        to: 'test',
        reframe: { expected: 'pass', actual: 'fail', shownBy: null },
      },
    ]);
  });

  it('begins after the last review, and continues its numbering', () => {
    const entries = sealedEntries(
      start('edit'),
      denial('mode', 'say execute'),
      { body: { event: 'par', par: {} } },
      { body: { not: 'ours' } },
      stop('reflect'),
      start('test'),
    );
    expect(deriveReview(entries, {})).toMatchObject({
      'par/sequence': 2,
      'par/span': { from: 'e4', to: 'e5' },
      approach: ['test'],
      what_could_improve: [],
      suggestions: [],
      lineage_trace: { entries: 2 },
    });
  });

  it('lists the facts first, the most frequent of them before others, and then the agent’s words', () => {
    const par = deriveReview(
      sealedEntries(
        stop('deploy', { pushed: true, deployed: true }),
        stop('test', { result: 'pass' }),
        stop('test', { result: 'pass' }),
        stop('edit', { result: 'fail', pushed: 'yes', deployed: 'yes' }),
      ),
      { 'what-went-well': ['quick'], questions: { learned: 'much' }, suggestions: 'again' },
    );
    expect(par.what_went_well).toEqual([
      '2 × test: the tests passed',
      '1 × deploy: the change was pushed',
      '1 × deploy: the deployment ran',
      'quick',
    ]);
    expect(par.questions).toEqual({ learned: 'much' });
    expect(par.suggestions).toEqual(['again']);
    expect(deriveReview([], { questions: 'none' }).questions).toEqual({});
  });

  it('lists everything that failed or was refused', () => {
    const par = deriveReview(
      sealedEntries(
        denial('out-of-scope', 'stay', { tool: 'edit' }),
        denial('wrong-mode', 'change it', { tool: 7 }),
        failure('step', 'grep', 'timeout'),
        failure('outcome', 'edit', 'no-match'),
        step('read', {}),
        { body: { event: 'interrupted', tool: 'push', reason: 'killed' } },
        { body: { event: 'expired', peripheral: 'edit', deadline: 1 } },
        stop('test', { result: 'flaky' }),
        hop('test', 'edit', { expected: 'pass', actual: 'fail' }),
      ),
      { 'what-could-improve': ['slow'] },
    );
    expect(par.what_could_improve).toEqual([
      '1 × denied: out-of-scope (edit)',
      '1 × denied: wrong-mode',
      '1 × failed: grep, timeout',
      '1 × failed: edit, no-match',
      '1 × interrupted: push, its outcome is unknown',
      '1 × time limit of edit passed',
      '1 × test: a test run was flaky',
      '1 × reframe: test back to edit, expected pass, got fail',
      'slow',
    ]);
  });

  it('suggests the five most needed remedies', () => {
    const denials = ['a', 'b', 'c', 'd', 'e', 'f'].map((code) => denial(code, `do ${code}`));
    const par = deriveReview(sealedEntries(...denials, denial('f', 'do f')), {});
    expect(par.suggestions).toEqual(['2 × f: do f', '1 × a: do a', '1 × b: do b', '1 × c: do c', '1 × d: do d']);
  });

  it('names each changed file of acting tools once, and each commit', () => {
    const par = deriveReview(
      sealedEntries(
        outcome('edit', {}, [
          ['modify', 'a'],
          ['create', 'b'],
          ['read', 'c'],
          ['ref', 'd'],
          ['connect', 'e'],
          ['execute', 'f'],
        ]),
        outcome('edit', {}, [['modify', 'a']]),
        outcome('bash', {}, 'unobserved'),
        failure('outcome', 'bash', 'exit', [['delete', 'g']]),
        step('read', {}, [['modify', 'not by an observing tool']]),
        outcome('commit', { committed: true, sha: 'abc' }),
        outcome('commit', { committed: false, sha: 'no' }),
        outcome('commit', null),
        step('git-log', { committed: true, sha: 'observed' }),
        failure('outcome', 'commit', 'nothing'),
        stop('deploy', { sha: 'abc' }),
        stop('deploy', { sha: 'def' }),
        stop('deploy', { sha: 1 }),
      ),
      {},
    );
    expect(par.files_touched).toEqual(['a', 'b', 'g']);
    expect(par.commits).toEqual(['abc', 'def']);
  });
});

it.each(OBSERVED_EFFECT_KINDS)(
  'a file with the effect %s counts as touched only if the effect is a change of files',
  (op) => {
    expect(deriveReview(sealedEntries(outcome('edit', {}, [[op, 'a']])), {}).files_touched).toEqual(
      FILE_CHANGE_EFFECT_KINDS.includes(op) ? ['a'] : [],
    );
  },
);

describe('the prediction error of an exit', () => {
  const back = (actual: string) => hop('test', 'edit', { expected: 'pass', actual });

  it.each([
    ['the share of the tests that failed', 'fail', { failures: ['x'], 'test-count': 3 }, 0.33],
    ['never more than all of them', 'fail', { failures: ['x', 'y'], 'test-count': 1 }, 1],
    ['all, where the tests were not counted', 'fail', { failures: ['x'] }, 1],
    ['all, where there were none', 'fail', { failures: ['x'], 'test-count': 0 }, 1],
    ['all, where nothing says which failed', 'fail', { failures: [], 'test-count': 4 }, 1],
    ['all, where the failures are not a list', 'fail', { failures: 2, 'test-count': 4 }, 1],
    ['half for a flaky run', 'flaky', { failures: ['x'], 'test-count': 3 }, 0.5],
  ])('is %s', (_, actual, fruit, magnitude) => {
    const par = deriveReview(sealedEntries(start('test'), stop('test', fruit), back(actual)), {});
    expect(par.prediction_errors).toEqual([{ expected: 'pass', actual, magnitude }]);
  });

  it('is recorded once for each visit if a pass was claimed and the tests did not pass', () => {
    const claim = denial('exit-not-met', 'test', { exit: 'pass' });
    const entries = sealedEntries(
      start('test'),
      claim,
      step('bash-test', { verdict: 'fail' }),
      step('read', {}),
      claim,
      claim,
      start('test'),
      claim,
      step('bash-test', { verdict: 'pass' }),
      claim,
    );
    const wrong = { expected: 'pass', actual: 'fail', magnitude: 1 };
    expect(deriveReview(entries, {}).prediction_errors).toEqual([wrong, wrong]);
  });

  it.each([
    ['another reason', denial('wrong-mode', 'x', { exit: 'pass' })],
    ['another exit', denial('exit-not-met', 'x', { exit: 'fail' })],
  ])('is not recorded if the refusal was for %s', (_, refused) =>
    expect(deriveReview(sealedEntries(step('bash-test', { verdict: 'fail' }), refused), {}).prediction_errors).toEqual(
      [],
    ),
  );

  it('is listed with those that the agent states', () =>
    expect(deriveReview([], { 'prediction-errors': ['slower'] }).prediction_errors).toEqual([
      { expected: null, actual: 'slower', magnitude: null },
    ]));

  it('uses the verdict of acting tools too, but not of a failed tool', () => {
    const claim = denial('exit-not-met', 'test', { exit: 'pass' });
    expect(deriveReview(sealedEntries(outcome('run', { verdict: 'flaky' }), claim), {}).prediction_errors).toHaveLength(
      1,
    );
    expect(deriveReview(sealedEntries(failure('outcome', 'run', 'x'), claim), {}).prediction_errors).toEqual([]);
  });
});

describe('patterns in a review', () => {
  const select = (pattern: string) => step('psr-select', { pattern, rationale: 'fits' });
  const settle = (pattern: string, more: object) => step('pur-update', { pattern, ...more } as never);

  it('are those selected, each with its last outcome', () => {
    const par = deriveReview(
      sealedEntries(
        select('a'),
        settle('a', { outcome: 'success' }),
        select('a'),
        select('b'),
        settle('b', { outcome: 'failed', expected: 'ease', actual: 'pain', 'prediction-error': 0.8 }),
        select('c'),
        settle('c', { outcome: 'deferred' }),
      ),
      {},
    );
    expect(par.patterns_used).toEqual([
      { pattern: 'a', count: 2, inferred: false, outcome: 'success' },
      { pattern: 'b', count: 1, inferred: false, outcome: 'failed' },
      { pattern: 'c', count: 1, inferred: false, outcome: 'deferred' },
    ]);
    expect(par.open_selections).toEqual(['a', 'c']);
    expect(par.what_went_well).toEqual(['1 × pattern a held']);
    expect(par.what_could_improve).toEqual([
      '1 × pattern a: its outcome was not recorded',
      '1 × pattern b: failed',
      '1 × pattern c: its outcome was deferred',
    ]);
    expect(par.prediction_errors).toEqual([{ expected: 'ease', actual: 'pain', magnitude: 0.8 }]);
    expect(par.suggestions).toEqual([
      'record the outcome of a (pur-update), so that it can be judged',
      'record the outcome of c (pur-update), so that it can be judged',
    ]);
  });

  it('have a default expectation if none was stated', () => {
    const par = deriveReview(
      sealedEntries(select('a'), settle('a', { outcome: 'partial', 'prediction-error': 1 })),
      {},
    );
    expect(par.prediction_errors).toEqual([{ expected: 'a holds', actual: 'partial', magnitude: 1 }]);
    const right = deriveReview(
      sealedEntries(select('a'), settle('a', { outcome: 'success', 'prediction-error': 0 })),
      {},
    );
    expect(right.prediction_errors).toEqual([]);
  });

  it('are omitted if an earlier review has them, unless they are open or ended since', () => {
    const review = { body: { event: 'par', par: {} } };
    const names = (...after: Parameters<typeof sealedEntries>) =>
      deriveReview(
        sealedEntries(
          select('done'),
          settle('done', { outcome: 'success' }),
          select('open'),
          select('late'),
          review,
          ...after,
        ),
        {},
      ).patterns_used.map(({ pattern }) => pattern);
    expect(names()).toEqual(['open', 'late']);
    expect(names(settle('late', { outcome: 'success' }), select('new'))).toEqual(['open', 'late', 'new']);
  });
});
