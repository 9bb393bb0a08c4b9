import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileSpecTables } from '../../src/compile/spec-tables.ts';
import type { EvidenceStore } from '../../src/ports/evidence-store.ts';
import { type ChainLink, runChain } from '../../src/session/run-chain.ts';
import type { Session } from '../../src/session/session.ts';
import { applyEntry } from '../../src/session/state/apply-entry.ts';
import { initialSessionState, type SessionState } from '../../src/session/state/session-state.ts';
import { readStoredState } from '../../src/session/state/stored-state.ts';
import { depth } from '../depth.ts';
import {
  bodies,
  changed,
  denied,
  events,
  fixtureSpecs,
  inTurn,
  lead,
  must,
  type Stage,
  specsOf,
  stage,
  testRun,
} from './sessions.ts';

const compiled = compileSpecTables(fixtureSpecs);

async function replayed(store: EvidenceStore, id: string): Promise<SessionState> {
  let state = initialSessionState(compiled, id);
  for await (const stored of store.entries(id)) state = applyEntry(compiled, state, stored);
  return state;
}

type Call = (on: Stage, session: Session) => Promise<unknown>;
const anyOf = (...values: string[]) => fc.constantFrom(...values);
const peripheral = anyOf('explore', 'edit', 'test', 'deploy', 'reflect', 'chat');
const by = fc.constantFrom('agent' as const, 'agent' as const, 'operator' as const);
const call: fc.Arbitrary<Call> = fc.oneof(
  {
    weight: 5,
    arbitrary: anyOf(...Object.keys(fixtureSpecs.tools)).map(
      (tool): Call =>
        (_, session) =>
          session.step({ tool, args: ARGS[tool] ?? {} }),
    ),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(...fixtureSpecs.edges).chain((edge) =>
      by.map(
        (who): Call =>
          (_, session) =>
            session.hop({ to: edge.to, exit: edge.exit, reason: 'x', by: who }),
      ),
    ),
  },
  {
    weight: 3,
    arbitrary: fc.nat().map(
      (pick): Call =>
        async (_, session) => {
          const { hops } = session.available();
          const leg = hops[pick % Math.max(1, hops.length)];
          if (!leg) return;
          const fruit: { readonly [field: string]: string } = leg.from === 'edit' ? { 'commit-message': 'x' } : {};
          await (leg.from === null
            ? session.start(leg.to)
            : session.hop({ to: leg.to, exit: leg.exit ?? '', reason: 'y', fruit, by: 'operator' }));
        },
    ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(peripheral, by).map(
      ([to, who]): Call =>
        (_, session) =>
          session.start(to, { by: who, context: { topic: to } }),
    ),
  },
  {
    weight: 1,
    arbitrary: by.map(
      (who): Call =>
        (_, session) =>
          session.stop('z', { by: who }),
    ),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom('discuss' as const, 'diagnose' as const, 'execute' as const), by, fc.boolean())
      .map(
        ([to, who, reset]): Call =>
          (_, session) =>
            session.setMode({ to, by: who, reset, summary: 's' }),
      ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(1, 20, 61).map(
      (minutes): Call =>
        async ({ clock }) =>
          clock.advance(minutes),
    ),
  },
);
const ARGS: { readonly [tool: string]: object } = {
  read: { path: 'src/a.ts' },
  glob: { pattern: '**' },
  grep: { pattern: 'a' },
  edit: { path: 'src/a.ts', old: 'a', new: 'b' },
  write: { path: 'src/b.ts', content: 'b' },
  bash: { command: 'ls' },
  'bash-readonly': { command: 'ls' },
  'bash-git': { sub: 'push' },
  'web-fetch': { url: 'https://example.com' },
};
const RESULTS = () => {
  let turn = 0;
  const next = () => turn++;
  return {
    edit: () =>
      next() % 5 === 0
        ? { outcome: { status: 'failed' as const, code: 'no-text', message: 'not there' }, effects: [] }
        : changed(`src/${turn % 3}.ts`),
    bash: () => ({
      outcome: { status: 'ok' as const, result: { exit: 0, big: 'x'.repeat(40_000) } },
      effects: next() % 2 === 0 ? ('unobserved' as const) : [],
    }),
    grep: () => ({
      matches: Array.from({ length: (next() % 4) * 400 }, (_, n) => ({
        path: `src/found-${n}.ts`,
        text: 'x'.repeat(40),
        score: -0,
      })),
    }),
    glob: { files: ['src/a.ts', 'src/b.ts'] },
    'bash-test': () => testRun(next() % 3 === 0 ? 'fail' : 'pass', { narrowed: turn % 4 === 0 }),
    'bash-git': () => ({ committed: next() % 2 === 0, pushed: true, sha: 'a'.repeat(40) }),
    'web-fetch': {
      outcome: { status: 'refused' as const, code: 'out-of-scope' as const, message: 'no', remedy: 'none' },
      effects: [],
    },
  };
};

describe('resuming a session', () => {
  it('restores exactly the session’s state after any random walk', async () => {
    let longest = 0;
    const entered = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.array(call, { minLength: 5, maxLength: 40 }), async (walk) => {
        const on = await stage({ results: RESULTS() as never });
        for (const take of walk) await take(on, on.session);
        const live = on.session.state;
        await on.session.detach();
        const later = await on.reopen();
        expect(later.state).toEqual(live);
        expect(later.available()).toEqual(on.session.available());
        // The kept state equals the fold of the evidence.
        expect((await readStoredState(on.store, later.id))?.state).toEqual(await replayed(on.store, later.id));
        // The resumed session continues from exactly this state, and folds to it again.
        await must(later.settle());
        await later.step({ tool: 'read', args: ['src/a.ts'] });
        const state = await replayed(on.store, later.id);
        expect(state.facts.backpack).toEqual(later.state.backpack);
        expect(state.facts.steps).toBe(later.state.steps);
        longest = Math.max(longest, Object.keys(live.visits).length);
        for (const id of Object.keys(live.visits)) entered.add(id);
      }),
      { numRuns: depth(30, 150) },
    );
    // The walks must reach many states; otherwise this test proves little.
    expect(longest).toBeGreaterThan(2);
    expect([...entered]).toEqual(expect.arrayContaining(['explore', 'edit', 'test', 'reflect', 'chat']));
  });

  it('only reads until the first call', async () => {
    const on = await stage();
    await lead(on.session, 'test');
    const reported: unknown[] = [];
    const later = await on.reopen({ onEntry: (entry) => reported.push(entry) });
    expect(later.state).toEqual(on.session.state);
    expect(reported).toEqual([]);
    // The first writer was not disturbed.
    await must(on.session.step({ tool: 'bash-test' }));
  });

  it('fails for an unknown session', async () => {
    const { resumeSession } = await import('../../src/session/create-session.ts');
    const on = await stage();
    const parts = { store: on.store, clock: on.clock, ids: { next: () => 'x' }, backends: [], approver: null };
    await expect(resumeSession(parts, 'nobody')).rejects.toMatchObject({ code: 'session-not-found' });
  });
});

describe('the time limits of a session', () => {
  it('record a passed deadline once, and allow stop and hops', async () => {
    const { session, clock } = await stage();
    await lead(session, 'test');
    clock.advance(29.9);
    await must(session.step({ tool: 'bash-test' }));
    clock.advance(0.1);
    for (const tool of ['bash-test', 'read'])
      expect((await denied(session.step({ tool, args: ARGS[tool] ?? {} }))).denial.code).toBe('limit-reached');
    expect(session.state.visit).toBe('expired');
    expect(session.available().tools).toEqual([]);
    expect((await events(session)).filter((event) => event === 'expired')).toHaveLength(1);
    await must(
      session
        .hop({ to: 'edit', exit: 'pass', reason: 'x' })
        .then((result) => (result.ok ? result : session.hop({ to: 'edit', exit: 'hop-edit', reason: 'on' }))),
    );
    expect(session.state.visit).toBe('active');
  });

  it('count the steps of a visit, not of the session', async () => {
    const specs = specsOf({
      'peripherals/one.yaml':
        'id: one\npurpose: One.\ntools: [look]\nscope: none\nentry: [default, from-any]\nexit: { hop-two: two }\nlimits: { steps: 2 }',
      'peripherals/two.yaml':
        'id: two\npurpose: Two.\ntools: [look]\nscope: none\nentry: [from-one]\nexit: { hop-one: one }\nlimits: { steps: 2 }',
      'scopes.yaml': 'scopes: { none: { read: none, write: [], command: none, url: none } }',
      'tools.yaml':
        'tools: { look: { purpose: Looks., effect: observe, parameters: [], limits: { seconds: 1, output-bytes: 100 } } }',
    });
    const { session } = await stage({ specs });
    await must(session.start('one'));
    for (const to of ['two', 'one', 'two']) {
      await must(session.step({ tool: 'look' }));
      await denied(session.step({ tool: 'lok' }));
      await must(session.step({ tool: 'look' }));
      expect((await denied(session.step({ tool: 'look' }))).denial).toMatchObject({
        code: 'limit-reached',
        about: { limit: 'steps', value: '2 steps' },
      });
      await must(session.hop({ to, reason: 'on' }));
    }
    await must(session.stop('enough'));
  });

  it('reset the mode after the gate’s minutes without a step', async () => {
    const { session, clock } = await stage();
    await lead(session, 'edit');
    clock.advance(59);
    await must(session.step({ tool: 'read', args: ['src/a.ts'] }));
    clock.advance(60);
    expect((await denied(session.step({ tool: 'edit', args: ARGS['edit'] }))).denial.code).toBe('mode-forbids');
    const [timeout] = (await session.evidence()).filter(({ author }) => author === 'clock');
    expect(timeout).toMatchObject({
      type: 'mode-transition',
      body: { event: 'mode', from: 'execute', to: 'discuss', how: 'timeout', by: 'clock' },
    });
    // The visit continues.
    expect(session.state).toMatchObject({ peripheral: 'edit', visit: 'active', mode: 'discuss' });
    clock.advance(600);
    await must(session.settle());
    expect((await bodies(session)).filter((body) => 'how' in body && body.how === 'timeout')).toHaveLength(1);
  });

  it('reset the mode even if the deadline of the visit passed meanwhile', async () => {
    const { session, clock } = await stage();
    await lead(session, 'edit');
    await must(session.hop({ to: 'test', exit: 'hop-test', reason: 'check' }));
    clock.advance(61);
    await must(session.settle());
    expect(session.state).toMatchObject({ visit: 'expired', mode: 'discuss' });
  });

  it('end an approval', async () => {
    const approver = inTurn({ by: 'operator' }, { by: 'operator', minutes: -1 });
    const { session } = await stage({ approver });
    await lead(session, 'test');
    await must(session.step({ tool: 'bash-test' }));
    expect((await denied(session.hop({ to: 'deploy', exit: 'pass', reason: 'x' }))).denial.code).toBe(
      'approval-invalid',
    );
  });
});

describe('runChain', () => {
  const links: readonly ChainLink[] = [
    {
      peripheral: 'explore',
      actions: [{ tool: 'read', args: ['src/a.ts'] }],
      exit: 'ready-to-edit',
      reason: 'there',
      fruit: { summary: 's' },
    },
    { peripheral: 'edit', actions: [{ tool: 'edit', args: ARGS['edit'] }], exit: 'hop-test', reason: 'done' },
    { peripheral: 'test', actions: [{ tool: 'bash-test' }], reason: 'tested' },
  ];
  const ready = async (options: Parameters<typeof stage>[0] = {}) => {
    const on = await stage(options);
    await must(on.session.setMode({ to: 'diagnose' }));
    await must(on.session.setMode({ to: 'execute' }));
    return on;
  };

  it('runs several visits and yields each fruit', async () => {
    const { session } = await ready();
    const result = await runChain(session, links);
    expect(result).toMatchObject({
      ok: true,
      fruits: [
        { peripheral: 'explore', fruit: { summary: 's' } },
        { peripheral: 'edit', fruit: { changes: 1 } },
        { peripheral: 'test', fruit: { result: 'pass' } },
      ],
    });
    expect(result.evidence).toEqual((await session.evidence()).slice(-result.evidence.length));
    expect(result.finalContext).toMatchObject({ summary: 's', 'changed-files': ['src/a.ts'] });
    expect(session.state.peripheral).toBeNull();
  });

  it('ends at the first refusal and returns the results so far', async () => {
    const { session } = await ready();
    const broken = links.with(1, {
      ...links[1]!,
      actions: [
        { tool: 'edit', args: ARGS['edit'] },
        { tool: 'grep', args: {} },
      ],
    });
    const result = await runChain(session, broken);
    expect(result).toMatchObject({
      ok: false,
      at: { link: 1, action: 1 },
      denial: { code: 'tool-not-allowed' },
      fruits: [{ peripheral: 'explore' }],
    });
    expect(result.evidence.at(-1)).toEqual((await session.evidence()).at(-1));
    expect(result.evidence).toHaveLength(8);
    expect(session.state.peripheral).toBe('edit');
    const again = await runChain(session, links);
    expect(again).toMatchObject({
      ok: false,
      at: { link: 0, action: null },
      denial: { code: 'already-active' },
      fruits: [],
    });
  });

  it('names the refused exit', async () => {
    const { session } = await ready({ results: { 'bash-test': testRun('fail') } });
    const result = await runChain(session, [
      ...links.slice(0, 2),
      { ...links[2]!, exit: 'pass' },
      { peripheral: 'reflect', actions: [], reason: 'end' },
    ]);
    expect(result).toMatchObject({ ok: false, at: { link: 2, action: null }, denial: { code: 'exit-not-met' } });
  });
});
