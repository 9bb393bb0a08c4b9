import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifyConstraints } from '../../src/audit/verify/verify-constraints.ts';
import type { Entry } from '../../src/evidence/entry.ts';
import type { GrantLimits } from '../../src/gate/approvals/grant.ts';
import type { Approver } from '../../src/ports/approver.ts';
import type { Json } from '../../src/spec/types.ts';
import { depth } from '../depth.ts';
import { bodies, CONFIG, changed, fixtureSpecs, must, stage, testRun, yes } from './sessions.ts';

interface Round {
  /** The file that the agent changes. */
  readonly path: string;
  /** The verdict of a run before the passing one; null without such a run. */
  readonly first: 'fail' | 'error' | null;
  readonly minutes: number;
}
const round = (more: Partial<Round> = {}): Round => ({ path: 'src/a.ts', first: null, minutes: 1, ...more });

/** A session that deploys in rounds. Its operator gives a grant at the first request, and answers no later one. */
async function granted(limits: Omit<Partial<GrantLimits>, 'until'> & { readonly minutes?: number }) {
  const { minutes = 600, ...others } = limits;
  let verdict: 'pass' | 'fail' | 'error' = 'pass';
  let asked = 0;
  const revoked = new Map<string, string>();
  const at = await stage({
    approver: null,
    config: { scopes: { edit: ['.'] } },
    revokedBy: (id) => revoked.get(id) ?? null,
    results: { edit: ({ path }) => changed(String(path)), 'bash-test': () => testRun(verdict) },
  });
  const { session, store, clock } = at;
  const approver: Approver = {
    via: 'terminal',
    approve: async () =>
      asked++ > 0 ? null : { by: 'mary', grant: { until: clock.time + minutes * 60_000, ...others } },
  };
  await must(session.setMode({ to: 'diagnose' }));
  await must(session.setMode({ to: 'execute' }, { approver: yes }));
  const test = async (path: string, run: typeof verdict) => {
    verdict = run;
    if (session.state.peripheral !== null) await must(session.stop('again', { by: 'operator' }));
    await must(session.start('edit', { by: 'operator' }));
    await must(session.step({ tool: 'edit', args: { path, old: 'a', new: 'b' } }));
    await must(session.hop({ to: 'test', exit: 'hop-test', reason: 'r', fruit: { 'commit-message': 'Change a' } }));
    await must(session.step({ tool: 'bash-test' }));
  };
  /** Changes a file, tests it, and tries to deploy, in each round; true for each that was allowed. */
  const rounds = async (...all: readonly Round[]) => {
    const done: boolean[] = [];
    for (const { path, first, minutes } of all) {
      if (first !== null) await test(path, first);
      await test(path, 'pass');
      clock.advance(minutes);
      done.push((await session.hop({ to: 'deploy', exit: 'pass', reason: 'all pass' }, { approver })).ok);
    }
    return done;
  };
  const revoke = async () => {
    for (const body of await bodies(session)) if (body.event === 'grant') revoked.set(body.id, 'mary');
  };
  const judge = async (change: (body: { [name: string]: Json }) => Json = (body) => body) => {
    const all: Entry[] = [];
    for await (const { entry } of store.entries(session.id))
      all.push({ ...entry, body: change(structuredClone(entry.body) as { [name: string]: Json }) });
    return verifyConstraints({ specs: fixtureSpecs, config: { ...CONFIG, scopes: { edit: ['.'] } } }, all);
  };
  return { ...at, rounds, revoke, judge };
}

type Bodies = { [name: string]: Json };
const changing =
  (event: string, change: (body: Bodies) => void) =>
  (body: Bodies): Json => {
    if (body['event'] === event) change(body);
    return body;
  };

describe('a grant', () => {
  it('covers as many requests as its limit allows, each with an approval that names the grant', async () => {
    const { rounds, session, judge } = await granted({ uses: 2 });
    expect(await rounds(round(), round(), round())).toEqual([true, true, false]);
    const all = await bodies(session);
    const [grant] = all.flatMap((body) => (body.event === 'grant' ? [body] : []));
    expect(grant).toMatchObject({ by: 'mary', via: 'terminal', limits: { uses: 2 }, action: { to: 'deploy' } });
    const records = all.flatMap((body) => (body.event === 'approval' ? [body.record] : []));
    expect(records.slice(1)).toMatchObject([
      { via: 'terminal', by: 'mary', grant: grant!.id },
      { via: 'grant', by: 'mary', grant: grant!.id },
    ]);
    expect(await judge()).toMatchObject({ ok: true, violations: [] });
  });

  it.each<[string, Parameters<typeof granted>[0], Round]>([
    ['its time is over', { minutes: 2 }, round({ minutes: 2 })],
    ['a file outside of its files has changed', { files: ['src/'] }, round({ path: 'lib/a.ts' })],
    ['a test file has changed that nobody approved', {}, round({ path: 'test/a.test.ts' })],
    ['a test run failed', { testsPass: true }, round({ first: 'fail' })],
    ['the tests could not run', { testsPass: true }, round({ first: 'error' })],
  ])('covers no request after %s', async (_, limits, last) => {
    const { rounds, judge } = await granted(limits);
    expect(await rounds(round(), round({ minutes: 0 }), last, round({ minutes: 0 }))).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(await judge()).toMatchObject({ ok: true, violations: [] });
  });

  it('covers no request after a person revoked it, which the session records', async () => {
    const { rounds, revoke, session, judge } = await granted({});
    expect(await rounds(round(), round())).toEqual([true, true]);
    await revoke();
    expect(await rounds(round())).toEqual([false]);
    expect(await bodies(session)).toContainEqual({ event: 'grant-end', grant: expect.any(String), by: 'mary' });
    expect(await judge()).toMatchObject({ ok: true, violations: [] });
  });

  it('remains valid in another process, and is not given if its limits do not cover the request itself', async () => {
    const first = await granted({ uses: 3 });
    expect(await first.rounds(round(), round())).toEqual([true, true]);
    await first.session.detach();
    const again = await first.reopen({ approver: null });
    expect(again.grants.map(({ used, ended }) => [used, ended])).toEqual([[2, null]]);
    const other = await granted({ files: ['docs/'] });
    expect(await other.rounds(round(), round())).toEqual([true, false]);
    expect((await bodies(other.session)).some(({ event }) => event === 'grant')).toBe(false);
  });

  it('agrees with the audit for any limits and any sequence of changes, test runs and deploys', async () => {
    const anyRound = fc.record({
      path: fc.constantFrom('src/a.ts', 'src/b.ts', 'lib/c.ts', 'src/dist/d.js', 'test/a.test.ts'),
      first: fc.constantFrom(null, null, 'fail' as const, 'error' as const),
      minutes: fc.nat(20),
    });
    const anyLimits = fc.record(
      {
        minutes: fc.integer({ min: 10, max: 60 }),
        uses: fc.integer({ min: 1, max: 4 }),
        files: fc.constantFrom(['src/'], ['src/*.ts', 'test/'], ['.', '!dist/'], ['lib/c.ts', 'src/a.ts']),
        testsPass: fc.constant(true as const),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(anyLimits, fc.array(anyRound, { minLength: 2, maxLength: 5 }), async (limits, all) => {
        const { rounds, judge } = await granted(limits);
        await rounds(...all);
        expect((await judge()).violations).toEqual([]);
      }),
      { numRuns: depth(10, 40) },
    );
  });

  it.each<[string, string, (body: Bodies) => void]>([
    ['uses: 1', 'grant', (body) => Object.assign(body['limits'] as object, { uses: 1 })],
    ['until 1', 'grant', (body) => Object.assign(body['limits'] as object, { until: 1 })],
    ['files: docs/', 'grant', (body) => Object.assign(body['limits'] as object, { files: ['docs/'] })],
    ['granted: {', 'grant', (body) => Object.assign(body, { action: { kind: 'mode', from: 'a', to: 'b' } })],
    ['destination granted', 'grant', (body) => Object.assign(body['bound'] as object, { place: { to: 'elsewhere' } })],
    [
      'an approval needs a recorded grant',
      'approval',
      ({ record }) => 'grant' in (record as object) && Object.assign(record as object, { grant: 'x' }),
    ],
    ['an approval under a grant must name the grant', 'approval', ({ record }) => delete (record as Bodies)['grant']],
  ])('is judged by the audit: %s', async (constraint, event, change) => {
    const { rounds, judge } = await granted({});
    expect(await rounds(round(), round())).toEqual([true, true]);
    const { violations } = await judge(changing(event, change));
    expect(
      violations
        .filter(({ rule }) => rule === 'approval')
        .map((one) => one.constraint)
        .join('\n'),
    ).toContain(constraint);
  });

  it('that ended before an approval under it is found by the audit', async () => {
    const { rounds, judge } = await granted({});
    await rounds(round(), round({ first: 'fail' }));
    const limited = await judge(
      changing('grant', (body) => Object.assign(body['limits'] as object, { testsPass: true })),
    );
    expect(limited.violations.map(({ message }) => message).join()).toContain('a test run did not pass');
  });
});
