import { describe, expect, it } from 'vitest';
import type { ApprovalRequest } from '../../src/ports/approver.ts';
import type { Session } from '../../src/session/session.ts';
import type { Json } from '../../src/spec/types.ts';
import {
  bodies,
  changed,
  denied,
  fixtureSpecs,
  lead,
  must,
  type StageOptions,
  specsOf,
  stage,
  testRun,
} from './sessions.ts';

const edit = { tool: 'edit', args: { path: 'src/a.ts', old: 'a', new: 'b' } };
const ship = (session: Session) => session.hop({ to: 'deploy', exit: 'pass', reason: 'all pass' });
const code = async (call: Promise<{ ok: boolean; denial?: { code: string } }>) => {
  const { ok, denial } = await call;
  return ok ? 'ok' : denial?.code;
};
/** Test runs in order; the last one repeats. */
const runs = (...results: Json[]): NonNullable<StageOptions['results']> => {
  let next = 0;
  return { 'bash-test': () => results[Math.min(next++, results.length - 1)] ?? null };
};
const toTest = (session: Session) =>
  session.hop({ to: 'test', exit: 'hop-test', reason: 'on', fruit: { 'commit-message': 'x' } });

describe('the findings of a session', () => {
  it('are in the approval request, except those of deleted files', async () => {
    const editWith = (path: string, op: 'modify' | 'delete', finding?: string) => ({
      outcome: { status: 'ok' as const, result: null },
      effects: [{ path, op, ...(finding === undefined ? {} : { finding }) }],
    });
    const edits = [
      editWith('src/a.test.ts', 'modify', 'the file contains 1 test fewer than before'),
      editWith('src/run.sh', 'modify', 'it is executable'),
      editWith('src/run.sh', 'delete'),
    ];
    let next = 0;
    const asked: Json[] = [];
    const approve = async ({ view }: ApprovalRequest) => {
      asked.push(view as unknown as Json);
      return { by: 'operator' };
    };
    const { session } = await stage({
      approver: { via: 'approver', approve },
      results: {
        edit: () => edits[Math.min(next++, 2)]!,
        ...runs(testRun('pass', { fewerTests: { before: 4, now: 3 } }), testRun('pass')),
      },
    });
    await lead(session, 'edit');
    for (const _ of edits) await must(session.step(edit));
    await must(toTest(session));
    await must(session.step({ tool: 'bash-test', args: {} }));
    await ship(session);
    const weakened = { 'src/a.test.ts': 'the file contains 1 test fewer than before' };
    expect(asked.at(-1)).toMatchObject({
      findings: { ...weakened, 'npm test': '1 fewer test passed than before (3 of 4)' },
    });
    expect(Object.keys((asked.at(-1) as { findings: object }).findings)).not.toContain('src/run.sh');
  });
});

describe('the fruit of a test visit', () => {
  const pass = testRun('pass');
  const fail = testRun('fail', {
    report: { total: 3, passed: 2, failed: 1, skipped: 0, failures: [{ name: 'even' }] },
  });
  const other = { command: ['npm', 'run', 'e2e'] };
  it.each<[string, Json[], { [field: string]: Json }]>([
    ['no run', [], { result: null, 'test-count': 0, failures: [] }],
    ['a pass', [pass], { result: 'pass', 'test-count': 3, failures: [] }],
    ['a failure', [fail], { result: 'fail', 'test-count': 3, failures: [{ name: 'even' }] }],
    ['zero tests', [testRun('error')], { result: null, 'test-count': 0 }],
    ['a pass, then a failure of the same code', [pass, fail], { result: 'flaky', failures: [{ name: 'even' }] }],
    ['a failure, then a pass of the same code', [fail, pass], { result: 'flaky', failures: [] }],
    ['two commands that pass', [pass, testRun('pass', other)], { result: 'pass', 'test-count': 6 }],
    ['two commands of which one fails', [testRun('fail', other), pass], { result: 'fail' }],
    ['a pass that lacks another command', [testRun('pass', { others: ['npm run e2e'] })], { result: null }],
    [
      'a pass of each command that is named',
      [testRun('pass', { others: ['npm run e2e'] }), testRun('pass', { ...other, others: ['npm test'] })],
      { result: 'pass' },
    ],
    ['a pass of a part', [testRun('pass', { narrowed: true, others: ['npm test'] })], { result: null }],
    ['a pass and an error', [pass, testRun('error', other)], { result: null }],
    ['an error after a pass', [pass, testRun('error')], { result: null }],
    ['an error of a part, then a pass of all', [testRun('error', { narrowed: true }), pass], { result: 'pass' }],
    ['all commands in one step', [{ verdict: 'pass', runs: [pass, testRun('pass', other)] }], { result: 'pass' }],
    [
      'all commands in one step, one not run',
      [{ verdict: 'error', runs: [pass, testRun('error', other)] }],
      { result: null },
    ],
    [
      'all commands in one step, one failing',
      [{ verdict: 'fail', runs: [pass, testRun('fail', other)] }],
      { result: 'fail' },
    ],
    ['a run without a report', [testRun('pass', { report: null })], { result: 'pass', 'test-count': null }],
    ['words that look like a pass', [{ stdout: 'ok 1 - all tests pass', exit: 0 }], { result: null }],
  ])('is computed from %s', async (_name, results, fruit) => {
    const { session } = await stage({ results: runs(...results) });
    await lead(session, 'test');
    for (const _ of results) await must(session.step({ tool: 'bash-test' }));
    expect((await must(session.stop('enough'))).fruit).toMatchObject(fruit);
  });

  it('is never taken from the agent', async () => {
    const { session } = await stage();
    await lead(session, 'test');
    const refused = await denied(
      session.hop({ to: 'deploy', exit: 'pass', reason: 'trust me', fruit: { result: 'pass' } }),
    );
    expect(refused.denial.code).toBe('invalid-fruit');
  });

  it('is flaky if the same code passed in an earlier visit', async () => {
    const { session } = await stage({ results: runs(testRun('pass'), testRun('fail')) });
    await lead(session, 'test');
    await must(session.step({ tool: 'bash-test' }));
    await must(session.hop({ to: 'edit', exit: 'hop-edit', reason: 'nothing' }));
    await must(toTest(session));
    await must(session.step({ tool: 'bash-test' }));
    expect(await code(session.hop({ to: 'edit', exit: 'fail', reason: 'fails' }))).toBe('exit-not-met');
    expect((await must(session.hop({ to: 'edit', exit: 'flaky', reason: 'disagrees' }))).fruit['result']).toBe('flaky');
  });
});

describe('tests-passed', () => {
  /** The answer to a hop to deploy if the tests passed and then `between` happened in edit. */
  async function shipAfter(between: (session: Session) => Promise<unknown>, options: StageOptions = {}, again = false) {
    const { session } = await stage(options);
    await lead(session, 'test');
    await must(session.step({ tool: 'bash-test' }));
    await must(session.hop({ to: 'edit', exit: 'hop-edit', reason: 'once more' }));
    await between(session);
    await must(toTest(session));
    // A narrowed pass fulfils the exit, so that only the entry's condition decides.
    await must(session.step({ tool: 'bash-test', args: { command: again ? 'npm test' : 'npm test a' } }));
    return code(ship(session));
  }
  const narrowed = {
    'bash-test': (args: { readonly [name: string]: Json }) =>
      args['command'] === 'npm test a'
        ? testRun('pass', { narrowed: true, command: ['npm', 'test', 'a'] })
        : testRun('pass'),
  };
  const withEdit = (result: Json) => ({ results: { ...narrowed, edit: result } });

  it('is true while nothing has changed since the pass', async () => {
    expect(
      await shipAfter((session) => must(session.step({ tool: 'read', args: ['src/a.ts'] })), { results: narrowed }),
    ).toBe('ok');
  });
  it('is false after a change, also after a narrowed run', async () => {
    expect(await shipAfter((session) => must(session.step(edit)), { results: narrowed })).toBe('condition-failed');
    expect(await shipAfter((session) => must(session.step(edit)), { results: narrowed }, true)).toBe('ok');
  });
  it('is false after an unobserved change', async () => {
    const unobserved = { outcome: { status: 'ok' as const, result: null }, effects: 'unobserved' as const };
    expect(await shipAfter((session) => must(session.step(edit)), withEdit(unobserved as never))).toBe(
      'condition-failed',
    );
  });
  it('is false after a step that failed halfway', async () => {
    const half = { ...changed('src/a.ts'), outcome: { status: 'failed' as const, code: 'half', message: 'half done' } };
    expect(await shipAfter((session) => must(session.step(edit)), withEdit(half as never))).toBe('condition-failed');
  });
  it('stays true after an acting step that changed nothing', async () => {
    const nothing = { outcome: { status: 'ok' as const, result: null }, effects: [] };
    expect(await shipAfter((session) => must(session.step(edit)), withEdit(nothing as never))).toBe('ok');
  });
  it('stays true after a commit, which changes only refs', async () => {
    const ref = {
      outcome: { status: 'ok' as const, result: null },
      effects: [{ path: 'refs/heads/main', op: 'ref' as const }],
    };
    expect(await shipAfter((session) => must(session.step(edit)), withEdit(ref as never))).toBe('ok');
  });
  it('is false after an interrupted step', async () => {
    const lost = { name: 'lost', tools: ['edit'], run: () => new Promise<never>(() => {}) };
    const on = await stage({ results: narrowed });
    await lead(on.session, 'test');
    await must(on.session.step({ tool: 'bash-test' }));
    await must(on.session.hop({ to: 'edit', exit: 'hop-edit', reason: 'once more' }));
    await on.session.detach();
    const doomed = await on.reopen({ backends: [lost] });
    let seen = () => {};
    const intended = new Promise<void>((done) => {
      seen = done;
    });
    const watching = setInterval(async () => {
      if ((await bodies(doomed)).at(-1)?.event === 'intent') seen();
    }, 2);
    doomed.step(edit).catch(() => {});
    await intended;
    clearInterval(watching);
    on.clock.advance(1);
    const heir = await on.reopen();
    const settled = await must(heir.settle());
    expect(settled.evidence.map(({ tags }) => tags.at(-1))).toEqual(['interrupted']);
    expect(heir.state.visit).toBe('interrupted');
    await must(toTest(heir));
    await must(heir.step({ tool: 'bash-test', args: { command: 'npm test a' } }));
    expect(await code(ship(heir))).toBe('condition-failed');
    await must(heir.step({ tool: 'bash-test' }));
    expect(await code(ship(heir))).toBe('ok');
  });
  it('is false for an error, a missing command, a failure or a flaky run', async () => {
    const lacking = testRun('pass', { others: ['npm run e2e'] });
    for (const results of [
      [testRun('error')],
      [lacking],
      [testRun('pass'), testRun('error')],
      [testRun('fail')],
      [testRun('fail'), testRun('pass')],
    ]) {
      const { session } = await stage({ results: runs(...results) });
      await lead(session, 'test');
      for (const _ of results) await must(session.step({ tool: 'bash-test' }));
      expect(await code(ship(session))).toBe('exit-not-met');
      await must(session.stop('enough'));
    }
  });
});

describe('an error of the test command', () => {
  it('opens no exit that states a result, and leaving after it is not a reframe', async () => {
    const on = await stage({ results: runs(testRun('error')) });
    await lead(on.session, 'test');
    await must(on.session.step({ tool: 'bash-test' }));
    for (const exit of ['fail', 'flaky', 'pass'])
      expect(await code(on.session.hop({ to: 'reflect', exit, reason: 'x' }))).toBe('exit-not-met');
    const { evidence } = await must(on.session.hop({ to: 'edit', exit: 'hop-edit', reason: 'a hanging test' }));
    const hop = evidence
      .map(({ body }) => body as { event: string; reframe?: object })
      .find(({ event }) => event === 'hop');
    expect(hop).not.toHaveProperty('reframe');
  });
});

describe('the backpack', () => {
  it('keeps a field through peripherals that do not name it', async () => {
    const { session } = await stage({ results: { grep: { matches: [{ path: 'src/a.ts' }] } } });
    await must(session.start('explore', { context: { topic: 'medians' } }));
    await must(session.setMode({ to: 'diagnose' }));
    await must(session.step({ tool: 'grep', args: ['median'] }));
    await must(session.setMode({ to: 'execute' }));
    const hopped = await must(
      session.hop({ to: 'edit', exit: 'found-target', reason: 'there', fruit: { summary: 'sorts as text' } }),
    );
    expect(hopped.context).toEqual({ 'session-id': session.id, 'target-files': ['src/a.ts'] });
    await must(session.step(edit));
    await must(session.step({ tool: 'edit', args: { path: 'src/b.ts', old: 'a', new: 'b' } }));
    await must(toTest(session));
    await must(session.hop({ to: 'reflect', exit: 'hop-reflect', reason: 'look back' }));
    await must(session.hop({ to: 'chat', exit: 'hop-chat', reason: 'talk' }));
    await must(session.hop({ to: 'edit', exit: 'user-request', reason: 'more', by: 'operator' }));
    await must(toTest(session));
    expect(session.state.backpack).toMatchObject({
      'session-id': session.id,
      author: 'tester',
      topic: 'medians',
      summary: 'sorts as text',
      'target-files': ['src/a.ts'],
      'changed-files': ['src/a.ts'],
      'commit-message': 'x',
    });
  });

  it('adds up the changed files over several visits', async () => {
    const { session } = await stage({ results: { edit: (args) => changed(String(args['path'])) } });
    await lead(session, 'test');
    await must(session.hop({ to: 'edit', exit: 'hop-edit', reason: 'more' }));
    await must(session.step({ tool: 'edit', args: { path: 'src/b.ts', old: 'a', new: 'b' } }));
    await must(toTest(session));
    await must(session.hop({ to: 'edit', exit: 'hop-edit', reason: 'more' }));
    await must(toTest(session));
    expect(session.state.backpack['changed-files']).toEqual(['src/a.ts', 'src/b.ts']);
  });

  it('does not take the session’s identity from a caller', async () => {
    const { session } = await stage();
    const started = await must(
      session.start('explore', { context: { 'session-id': 'another', author: 'operator', topic: 'x' } }),
    );
    expect(started.context).toMatchObject({ 'session-id': session.id, topic: 'x' });
    expect(session.state.backpack).toMatchObject({ 'session-id': session.id, author: 'tester', topic: 'x' });
  });
});

describe('the review of a session', () => {
  it('is computed from the evidence when the session leaves reflect, by a hop or a stop', async () => {
    for (const leave of ['hop', 'stop']) {
      const { session } = await stage({
        results: runs(testRun('fail'), testRun('pass', { command: ['npm', 'run', 'x'] })),
      });
      await lead(session, 'test');
      await must(session.step({ tool: 'bash-test' }));
      await denied(ship(session));
      await must(session.hop({ to: 'edit', exit: 'fail', reason: 'a test fails' }));
      await must(toTest(session));
      await must(session.hop({ to: 'reflect', exit: 'hop-reflect', reason: 'look back' }));
      const left = await must<{ ok: boolean }>(
        leave === 'hop'
          ? session.hop({ to: 'chat', exit: 'par-generated', reason: 'written' })
          : session.stop('written'),
      );
      const review = (await bodies(session)).findLast(({ event }) => event === 'par') as {
        par: { [field: string]: Json };
      };
      expect(review.par).toMatchObject({
        'event/type': 'session/par',
        'session/id': session.id,
        files_touched: ['src/a.ts'],
        what_could_improve: expect.arrayContaining([expect.stringContaining('exit-not-met')]),
        prediction_errors: expect.arrayContaining([{ expected: 'pass', actual: 'fail', magnitude: 1 }]),
        lineage_trace: { peripherals: ['explore', 'edit', 'test', 'edit', 'test', 'reflect'] },
      });
      expect((left as never as { fruit: { par: Json } }).fruit.par).toEqual(review.par);
    }
  });

  it('adds the agent’s words to the facts', async () => {
    const specs = specsOf({
      'peripherals/look-back.yaml':
        'id: look-back\npurpose: Look back.\ntools: []\nscope: conversation\nentry: [default]\nexit: { done: look-back }\nfruit: { par: { observed: object }, what-went-well: { stated: list, optional: true }, suggestions: { stated: string, optional: true } }',
      'scopes.yaml': 'scopes: { conversation: { read: none, write: [], command: none, url: none } }',
      'tools.yaml': 'tools: {}',
    });
    const { session } = await stage({ specs });
    await must(session.start('look-back'));
    await denied(session.step({ tool: 'read' }));
    const { fruit } = await must(
      session.stop('done', { fruit: { 'what-went-well': ['the plan held'], suggestions: 'ask sooner' } }),
    );
    expect(fruit['par']).toMatchObject({
      what_went_well: ['the plan held'],
      what_could_improve: ['1 × denied: unknown-tool (read)'],
    });
    expect((fruit['par'] as { suggestions: string[] }).suggestions.at(-1)).toBe('ask sooner');
  });

  it('requires new work before the next natural close', async () => {
    const { session } = await stage();
    await lead(session, 'explore');
    expect(await code(session.hop({ to: 'reflect', exit: 'hop-reflect', reason: 'tired' }))).toBe('entry-not-met');
    await must(session.step({ tool: 'read', args: ['src/a.ts'] }));
    await must(session.hop({ to: 'reflect', exit: 'hop-reflect', reason: 'enough' }));
    await must(session.hop({ to: 'explore', exit: 'par-generated', reason: 'on' }));
    expect(await code(session.hop({ to: 'reflect', exit: 'hop-reflect', reason: 'again' }))).toBe('entry-not-met');
    expect(await code(session.hop({ to: 'reflect', exit: 'hop-reflect', reason: 'again', by: 'operator' }))).toBe('ok');
  });
});

describe('a reframe', () => {
  it('is recorded for a hop back after a failed expectation', async () => {
    const { session } = await stage({ results: runs(testRun('fail')) });
    await lead(session, 'test');
    const shown = await must(session.step({ tool: 'bash-test' }));
    await must(session.hop({ to: 'edit', exit: 'fail', reason: 'a test fails' }));
    const hops = (await bodies(session)).filter(({ event }) => event === 'hop');
    expect(hops.at(-1)).toMatchObject({
      reframe: { expected: 'pass', actual: 'fail', shownBy: shown.evidence[0]?.id },
    });
    expect(hops.slice(0, -1).some((hop) => 'reframe' in hop)).toBe(false);
  });
  it('is not recorded if the expectation was met or nothing was observed', async () => {
    for (const results of [[testRun('pass')], []]) {
      const { session } = await stage({ results: runs(...results) });
      await lead(session, 'test');
      for (const _ of results) await must(session.step({ tool: 'bash-test' }));
      await must(session.hop({ to: 'edit', exit: 'hop-edit', reason: 'more' }));
      expect((await bodies(session)).some((body) => 'reframe' in body)).toBe(false);
    }
  });
  it('names the first value that the exits imply as the expected one', () => {
    expect(fixtureSpecs.peripherals['test']?.exits.find(({ implies }) => implies)?.implies).toEqual({
      field: 'result',
      value: 'pass',
    });
  });
});

describe('trusted reports', () => {
  it('of a verdict come only from a command of a scope that runs tests', async () => {
    const { session } = await stage({ results: { read: testRun('pass') } });
    await lead(session, 'test');
    await session.step({ tool: 'read', args: { path: 'src/a.ts' } });
    expect(await session.hop({ to: 'deploy', exit: 'pass', reason: 'it said so' })).toMatchObject({
      denial: { code: 'exit-not-met' },
    });
  });

  it('of a change by an observing step invalidate a test pass', async () => {
    const sneaky = {
      outcome: { status: 'ok' as const, result: {} },
      effects: [{ path: 'src/a.ts', op: 'modify' as const }],
    };
    const { session } = await stage({ results: { read: sneaky } });
    await lead(session, 'test');
    await session.step({ tool: 'bash-test' });
    await session.step({ tool: 'read', args: { path: 'src/a.ts' } });
    expect(await session.hop({ to: 'deploy', exit: 'pass', reason: 'all pass' })).toMatchObject({
      denial: { code: 'condition-failed' },
    });
  });
});
