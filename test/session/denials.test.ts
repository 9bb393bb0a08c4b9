import { describe, expect, it, vi } from 'vitest';
import { DENIAL_CODES, type Denial, type DenialCode } from '../../src/gate/denial.ts';
import type { ToolCall } from '../../src/ports/tool-backend.ts';
import type { Session } from '../../src/session/session.ts';
import type { Json } from '../../src/spec/types.ts';
import {
  changed,
  denied,
  inTurn,
  lead,
  must,
  type Stage,
  type StageOptions,
  specsOf,
  stage,
  testRun,
} from './sessions.ts';

type Answer = Promise<{ readonly ok: boolean }>;

interface Case {
  readonly on?: () => StageOptions;
  readonly before?: (stage: Stage) => Promise<unknown>;
  readonly provoke: (session: Session, stage: Stage) => Answer;
  /** The request, as the evidence has to show it. */
  readonly asked: Json;
  readonly message: string;
  /** A part of the remedy that names a possible move. */
  readonly remedy: string;
  /** The moves that the remedy names; all of them must be allowed. */
  readonly follow: (session: Session, stage: Stage) => readonly (() => Answer)[];
}

const read = { tool: 'read', args: { path: 'src/a.ts' } };
const step = (tool: string, args: Json): Json => ({ kind: 'step', tool, args });
const hopTo = (to: string, exit: string, reason: string): Json => ({ kind: 'hop', to, exit, reason, by: 'agent' });
const at = (to: Parameters<typeof lead>[1]) => ({ before: ({ session }: Stage) => lead(session, to) });
const narrowed = (args: { readonly [name: string]: Json }) =>
  testRun('pass', args['command'] === undefined ? {} : { command: args['command'], narrowed: true });
const guarded = specsOf({
  'peripherals/lobby.yaml':
    'id: lobby\npurpose: All may come in.\ntools: [look]\nscope: conversation\nentry: [default, from-any]\nexit: { hop-vault: vault, hop-hall: hall }',
  'peripherals/hall.yaml':
    'id: hall\npurpose: All may pass.\ntools: [look]\nscope: conversation\nentry: [from-lobby]\nexit: { hop-lobby: lobby }',
  'peripherals/vault.yaml':
    'id: vault\npurpose: One may come in.\ntools: [look]\nscope: conversation\nentry: [from-lobby]\nexit: { hop-lobby: lobby }\nagents: [keeper]',
  'scopes.yaml': 'scopes: { conversation: { read: none, write: [], command: none, url: none } }',
  'tools.yaml':
    'tools: { look: { purpose: Looks., effect: observe, parameters: [], limits: { seconds: 1, output-bytes: 100 } } }',
});

/** Each code that is recorded in the session's own chain. */
const CASES: { readonly [code in Exclude<DenialCode, OutsideTheChain>]: Case } = {
  'unknown-tool': {
    ...at('explore'),
    provoke: (session) => session.step({ tool: 'raed', args: ['src/a.ts'] }),
    asked: step('raed', ['src/a.ts']),
    message: 'there is no tool "raed"',
    remedy: 'Did you mean read? Available in explore: read, glob, grep, bash-readonly, web-fetch',
    follow: (session) => [() => session.step({ tool: 'read', args: ['src/a.ts'] })],
  },
  'tool-not-allowed': {
    ...at('explore'),
    provoke: (session) => session.step({ tool: 'write', args: { path: 'src/a.ts', content: '' } }),
    asked: step('write', { path: 'src/a.ts', content: '' }),
    message: 'explore has no tool write',
    remedy: 'shortest path: hop to edit with exit found-target',
    follow: (session) => [
      () => session.hop({ to: 'edit', exit: 'found-target', reason: 'it is there' }),
      () => session.step({ tool: 'write', args: { path: 'src/a.ts', content: '' } }),
    ],
  },
  'invalid-action': {
    ...at('explore'),
    provoke: (session) => session.step({ tool: 'read', args: { file: 'src/a.ts' } }),
    asked: step('read', { file: 'src/a.ts' }),
    message: 'read: there is no parameter "file" (read has: path, offset, limit)',
    remedy: 'Usage: read { path, offset?, limit? }',
    follow: (session) => [() => session.step(read)],
  },
  'out-of-scope': {
    ...at('edit'),
    provoke: (session) => session.step({ tool: 'write', args: { path: 'package.json', content: '{}' } }),
    asked: step('write', { path: 'package.json', content: '{}' }),
    message: 'write: path "package.json" is out of scope: it is outside the writable paths',
    remedy: 'In scope here: src/, docs/, scripts/',
    follow: (session) => [() => session.step({ tool: 'write', args: { path: 'docs/a.md', content: '' } })],
  },
  'mode-forbids': {
    before: ({ session }) => must(session.start('explore')),
    provoke: (session) => session.step(read),
    asked: step('read', { path: 'src/a.ts' }),
    message: 'read (effect: observe) is not allowed in mode discuss',
    remedy: 'call mode({"to":"diagnose","reason":"…"})',
    follow: (session) => [() => session.setMode({ to: 'diagnose' }), () => session.step(read)],
  },
  'mode-not-allowed': {
    provoke: (session) => session.setMode({ to: 'execute', reason: 'now' }),
    asked: { kind: 'mode', by: 'agent', to: 'execute', reason: 'now' },
    message: 'the mode cannot go from discuss to execute: the mode gate has no such transition',
    remedy:
      'Call mode({"to":"diagnose","reason":"…"}), then mode({"to":"execute","reason":"…"}) (needs: approval by operator)',
    follow: (session) => [() => session.setMode({ to: 'diagnose' }), () => session.setMode({ to: 'execute' })],
  },
  'summary-required': {
    ...at('explore'),
    provoke: (session) => session.setMode({ to: 'discuss', summary: ' \n' }),
    asked: { kind: 'mode', by: 'agent', to: 'discuss', summary: ' \n' },
    message: 'leaving execute for discuss needs a summary of the work',
    remedy: 'Request the mode change again with a non-blank summary',
    follow: (session) => [() => session.setMode({ to: 'discuss', summary: 'looked around' })],
  },
  'no-peripheral': {
    provoke: (session) => session.step(read),
    asked: step('read', { path: 'src/a.ts' }),
    message: 'the session is in no peripheral',
    remedy: 'then start explore',
    follow: (session) => [() => session.start('explore')],
  },
  'already-active': {
    ...at('explore'),
    provoke: (session) => session.start('chat', { context: { topic: 'weather' } }),
    asked: { kind: 'start', peripheral: 'chat', by: 'agent', context: { topic: 'weather' } },
    message: 'a visit to explore is under way',
    remedy: 'Hop, or stop the visit first; possible now: hop to edit with exit found-target',
    follow: (session) => [() => session.hop({ to: 'edit', exit: 'found-target', reason: 'there' })],
  },
  'hop-not-allowed': {
    ...at('explore'),
    provoke: (session) => session.hop({ to: 'deploy', exit: 'hop-deploy', reason: 'ship it' }),
    asked: hopTo('deploy', 'hop-deploy', 'ship it'),
    message: 'no hop leads from explore by exit hop-deploy to deploy',
    remedy: 'Shortest path: hop to edit with exit found-target, then hop to test',
    follow: (session) => [
      () => session.hop({ to: 'edit', exit: 'found-target', reason: 'there' }),
      () => session.hop({ to: 'test', exit: 'hop-test', reason: 'on' }),
    ],
  },
  'exit-not-met': {
    on: () => ({ results: { 'bash-test': testRun('fail') } }),
    before: async ({ session }) => {
      await lead(session, 'test');
      await must(session.step({ tool: 'bash-test' }));
    },
    provoke: (session) => session.hop({ to: 'deploy', exit: 'pass', reason: 'almost all pass' }),
    asked: hopTo('deploy', 'pass', 'almost all pass'),
    message: 'exit pass of test does not hold: the exit implies that result is pass, but result is "fail"',
    remedy:
      'Shortest path: hop to edit with exit hop-edit, then hop to test with exit hop-test (needs: commit-message), then hop to deploy with exit pass (needs: result is pass; tests-passed; approval by operator).',
    follow: (session) => [() => session.hop({ to: 'edit', exit: 'hop-edit', reason: 'a test fails' })],
  },
  'entry-not-met': {
    provoke: (session) => session.start('edit'),
    asked: { kind: 'start', peripheral: 'edit', by: 'agent' },
    message: 'edit does not admit this entry: it admits only entries from explore or from test or ',
    remedy: 'Shortest path: start explore, then hop to edit with exit found-target',
    follow: (session) => [
      () => session.start('explore'),
      () => session.hop({ to: 'edit', exit: 'found-target', reason: 'there' }),
    ],
  },
  'condition-failed': {
    on: () => ({ results: { 'bash-test': narrowed } }),
    before: async ({ session }) => {
      await lead(session, 'test');
      await must(session.step({ tool: 'bash-test', args: { command: ['npm', 'test', 'a'] } }));
    },
    provoke: (session) => session.hop({ to: 'deploy', exit: 'pass', reason: 'this one passes' }),
    asked: hopTo('deploy', 'pass', 'this one passes'),
    message: 'deploy stays closed: the condition tests-passed does not hold',
    remedy: 'Run the configured tests in full with bash-test after the last change, until they pass',
    follow: (session) => [
      () => session.step({ tool: 'bash-test' }),
      () => session.hop({ to: 'deploy', exit: 'pass', reason: 'all pass' }),
    ],
  },
  'approval-required': {
    on: () => ({ approver: inTurn({ by: 'operator' }, null, { by: 'operator' }) }),
    before: async ({ session }) => {
      await lead(session, 'test');
      await must(session.step({ tool: 'bash-test' }));
    },
    provoke: (session) => session.hop({ to: 'deploy', exit: 'pass', reason: 'all pass' }),
    asked: hopTo('deploy', 'pass', 'all pass'),
    message: 'the hop from test to deploy needs an approval by the operator, and the approver gave no answer',
    remedy: 'Ask the operator; only an answer through the approver',
    follow: (session) => [() => session.hop({ to: 'deploy', exit: 'pass', reason: 'all pass' })],
  },
  'approval-invalid': {
    on: () => ({ approver: inTurn({ by: 'operator' }, { by: 'operator', minutes: 0 }, { by: 'operator' }) }),
    before: async ({ session }) => {
      await lead(session, 'test');
      await must(session.step({ tool: 'bash-test' }));
    },
    provoke: (session) => session.hop({ to: 'deploy', exit: 'pass', reason: 'all pass' }),
    asked: hopTo('deploy', 'pass', 'all pass'),
    message: 'the approval for the hop from test to deploy is not valid: the approval has expired',
    remedy: 'Request a new approval of exactly this call',
    follow: (session) => [() => session.hop({ to: 'deploy', exit: 'pass', reason: 'all pass' })],
  },
  'missing-context': {
    before: async ({ session }) => {
      await lead(session, 'edit');
      await must(session.hop({ to: 'test', exit: 'hop-test', reason: 'on' }));
      await must(session.step({ tool: 'bash-test' }));
    },
    provoke: (session) => session.hop({ to: 'deploy', exit: 'pass', reason: 'all pass' }),
    asked: hopTo('deploy', 'pass', 'all pass'),
    message: 'deploy cannot be entered without commit-message (from edit)',
    remedy: 'State commit-message in the fruit when leaving edit',
    follow: (session) => [
      () => session.hop({ to: 'edit', exit: 'hop-edit', reason: 'no message' }),
      () => session.hop({ to: 'test', exit: 'hop-test', reason: 'on', fruit: { 'commit-message': 'Change a' } }),
      () => session.step({ tool: 'bash-test' }),
      () => session.hop({ to: 'deploy', exit: 'pass', reason: 'all pass' }),
    ],
  },
  'invalid-fruit': {
    ...at('edit'),
    provoke: (session) => session.stop('enough', { fruit: { 'commit-message': 7, colour: 'red' } }),
    asked: { kind: 'stop', reason: 'enough', by: 'agent', fruit: { 'commit-message': 7, colour: 'red' } },
    message:
      'the fruit of edit is not valid: commit-message: the value must be string, colour: edit yields no field of this name (it yields: changes, changed-files, commit-message)',
    remedy: 'Correct the stated fields and call again',
    follow: (session) => [() => session.stop('enough', { fruit: { 'commit-message': 'Seven' } })],
  },
  'limit-reached': {
    before: async ({ session, clock }) => {
      await lead(session, 'test');
      clock.advance(30);
    },
    provoke: (session) => session.step({ tool: 'bash-test' }),
    asked: step('bash-test', {}),
    message: 'the minutes limit of test is reached (30 minutes)',
    remedy: 'Stop or hop; no tool can be called in this visit any more; possible now: hop to edit with exit fail',
    follow: (session) => [() => session.hop({ to: 'reflect', exit: 'hop-reflect', reason: 'out of time' })],
  },
  'sandbox-unavailable': {
    on: () => ({
      results: {
        'bash-readonly': {
          outcome: {
            status: 'refused',
            code: 'sandbox-unavailable',
            message: 'bwrap is not installed',
            remedy: 'Install bubblewrap, or use read and grep',
          },
          effects: [],
        },
      },
    }),
    ...at('explore'),
    provoke: (session) => session.step({ tool: 'bash-readonly', args: { command: 'ls' } }),
    asked: step('bash-readonly', { command: 'ls' }),
    message: 'bash-readonly needs a sandbox: bwrap is not installed',
    remedy: 'Install bubblewrap, or use read and grep',
    follow: (session) => [() => session.step(read), () => session.step({ tool: 'grep', args: ['a'] })],
  },
  'agent-not-allowed': {
    on: () => ({ specs: guarded }),
    before: ({ session }) => must(session.start('lobby')),
    provoke: (session) => session.hop({ to: 'vault', exit: 'hop-vault', reason: 'in' }),
    asked: hopTo('vault', 'hop-vault', 'in'),
    message: 'agent tester may not enter vault',
    remedy: 'Only these agents may enter vault: keeper; possible now: hop to hall with exit hop-hall',
    follow: (session) => [() => session.hop({ to: 'hall', exit: 'hop-hall', reason: 'on' })],
  },
};

/** Codes that go to the store's operator log, because the chain belongs to another writer or is closed. */
const OUTSIDE_THE_CHAIN = ['session-closed', 'session-busy', 'lease-expired'] as const;
type OutsideTheChain = (typeof OUTSIDE_THE_CHAIN)[number];

it('every denial code has a case in this test', () => {
  expect([...Object.keys(CASES), ...OUTSIDE_THE_CHAIN].toSorted()).toEqual([...DENIAL_CODES].toSorted());
});

describe.each(Object.entries(CASES))(
  'a refusal with the code %s',
  (code, { on, before, provoke, asked, message, remedy, follow }) => {
    const provoked = async () => {
      const on_stage = await stage(on?.());
      await before?.(on_stage);
      const ran = on_stage.backend.calls.length;
      const result = await provoke(on_stage.session, on_stage);
      return {
        on_stage,
        ran,
        refused: (await denied(Promise.resolve(result as never))) as Awaited<ReturnType<typeof denied>>,
      };
    };

    it('names the problem and a remedy that works', async () => {
      const { on_stage, refused } = await provoked();
      const { denial } = refused as never as { denial: { code: string; message: string; remedy: string } };
      expect(denial.code).toBe(code);
      expect(denial.message).toContain(message);
      expect(denial.remedy).toContain(remedy);
      for (const act of follow(on_stage.session, on_stage)) expect(await act()).toMatchObject({ ok: true });
    });

    it('is recorded with the original request', async () => {
      const { on_stage, refused } = await provoked();
      const { denial, evidence } = refused as never as { denial: Record<string, Json>; evidence: unknown[] };
      const entry = (await on_stage.session.evidence()).at(-1);
      expect(entry).toMatchObject({
        claim: 'observation',
        author: 'tester',
        body: { event: 'denial', request: asked, code, message: denial['message'], remedy: denial['remedy'] },
      });
      expect(evidence.at(-1)).toEqual(entry);
      expect(on_stage.session.state.denials).toBe(1);
    });
  },
);

describe('the remedy of a hop that this visit cannot allow', () => {
  const place = (id: string, rest: string) => ({
    [`peripherals/${id}.yaml`]: `id: ${id}\npurpose: P.\ntools: [weigh]\nscope: conversation\n${rest}\n`,
  });
  const scales = specsOf({
    'tools.yaml':
      'tools: { weigh: { purpose: W., effect: observe, parameters: [], limits: { seconds: 1, output-bytes: 100 }, observes: { scale: [pass, fail], load: integer } } }',
    'scopes.yaml': 'scopes: { conversation: { read: none, write: [], command: none, url: none } }',
    'conditions.yaml': 'conditions: { light: backpack.load < 9, twice: visits.yard > 1 }',
    ...place('yard', 'entry: [default, from-dock]\nexit: { on: dock }'),
    ...place(
      'dock',
      'entry: [from-yard]\nexit: { pass: ship, back: yard, on: [van, cart] }\nfruit: { scale: { observed: [pass, fail] }, load: { observed: integer } }\nlimits: { steps: 1 }',
    ),
    ...place('ship', 'entry: [from-dock]\nexit: {}'),
    ...place('van', 'entry: [from-dock, light]\nexit: {}'),
    ...place('cart', 'entry: [from-dock, twice]\nexit: {}\nagents: [keeper]'),
  });
  const docked = async (load: number, agent = 'keeper') => {
    const report = { outcome: { status: 'ok', result: null }, effects: [], observed: { scale: 'fail', load } } as const;
    const { session } = await stage({ specs: scales, agent, results: { weigh: () => report } });
    await must(session.start('yard'));
    await must(session.hop({ to: 'dock', exit: 'on', reason: 'r' }));
    return session;
  };
  const refusalOf = async (answer: Promise<{ readonly ok: true } | { readonly ok: false; readonly denial: Denial }>) =>
    (await denied(answer)).denial;
  const again = 'hop to yard with exit back, then hop to dock with exit on, then hop to';

  it('is a path that leaves the visit, if its limit is reached', async () => {
    const session = await docked(1);
    expect((await refusalOf(session.hop({ to: 'ship', exit: 'pass', reason: 'r' }))).remedy).toMatch(
      'Call weigh until',
    );
    await must(session.step({ tool: 'weigh', args: [] }));
    const { remedy } = await refusalOf(session.hop({ to: 'ship', exit: 'pass', reason: 'r' }));
    expect(remedy).toBe(`Shortest path: ${again} ship with exit pass (needs: scale is pass).`);
    expect((await refusalOf(session.step({ tool: 'read', args: [] }))).remedy).toMatch(
      'Available in dock: nothing, because the steps limit of this visit is reached',
    );
  });

  it('is a path that leaves the visit, if a rule is about another visit or its fruit', async () => {
    const session = await docked(1);
    const remedyOf = async (to: string) => (await refusalOf(session.hop({ to, exit: 'on', reason: 'r' }))).remedy;
    expect(await remedyOf('cart')).toMatch(/^Shortest path: hop to yard .* then hop to cart with exit on\.$/);
    await must(session.step({ tool: 'weigh', args: [] }));
    expect(await remedyOf('van')).toMatch(/^Shortest path: hop to yard .* then hop to van with exit on\.$/);
  });

  it('is to leave, if the fruit that the rule reads is one of an earlier visit', async () => {
    const session = await docked(20);
    await must(session.step({ tool: 'weigh', args: [] }));
    await must(session.hop({ to: 'yard', exit: 'back', reason: 'r' }));
    await must(session.hop({ to: 'dock', exit: 'on', reason: 'r' }));
    const { remedy } = await refusalOf(session.hop({ to: 'van', exit: 'on', reason: 'r' }));
    expect(remedy).toMatch(/^Leave by another exit, and come back with a fruit for which the condition light holds/);
  });

  it('offers no hop to a peripheral that does not admit the agent', async () => {
    const session = await docked(1, 'somebody');
    const { remedy, available } = await refusalOf(session.hop({ to: 'cart', exit: 'on', reason: 'r' }));
    expect(remedy).not.toMatch('hop to cart');
    expect(available.hops.map(({ to }) => to)).toEqual(['yard', 'van', 'ship']);
    expect((await docked(1)).available().hops.flatMap(({ to, needs }) => (to === 'cart' ? needs : []))).toEqual([
      'twice (visits.yard > 1)',
    ]);
  });
});

describe('a refusal outside the chain', () => {
  const notes = async ({ store }: Stage) => (await store.notes()).map(({ code, sessionId }) => ({ code, sessionId }));

  it('is session-closed for a closed session, and the store notes it for the operator', async () => {
    const on = await stage();
    await must(on.session.close('enough'));
    const entries = await (await on.reopen()).evidence();
    const later = await on.reopen();
    for (const call of [
      () => later.step(read),
      () => later.start('explore'),
      () => later.hop({ to: 'edit', reason: 'on' }),
      () => later.stop('enough'),
      () => later.setMode({ to: 'diagnose' }),
      () => later.close(),
    ]) {
      const { denial, evidence } = await denied(call() as Answer as ReturnType<Session['step']>);
      expect(denial).toMatchObject({
        code: 'session-closed',
        message: 'the session is closed',
        remedy: 'Ask the operator to open a new session.',
      });
      expect(denial.available).toMatchObject({ tools: [], hops: [], modes: [] });
      expect(evidence).toEqual([]);
    }
    expect(await later.evidence()).toEqual(entries);
    expect(await notes(on)).toEqual(Array(6).fill({ code: 'session-closed', sessionId: later.id }));
    expect((await on.store.notes()).at(-1)?.message).toBe('step: the session is closed');
    await must((await stage({ store: on.store, agent: 'next' })).session.start('explore'));
  });

  it('is session-closed for a closed session whose mode would have timed out', async () => {
    const on = await stage();
    await must(on.session.setMode({ to: 'diagnose' }));
    await must(on.session.close('enough'));
    on.clock.advance(600);
    expect((await denied((await on.reopen()).step(read))).denial.code).toBe('session-closed');
  });

  it('is given to a second writer until the first has ended', async () => {
    const on = await stage();
    await must(on.session.start('explore'));
    const entries = await on.session.evidence();
    const second = await on.reopen();
    const { denial, evidence } = await denied(second.setMode({ to: 'diagnose' }));
    expect(denial).toMatchObject({ code: 'session-busy' });
    expect(denial.message).toMatch(/^another writer has the lease of the session \([^)]+\)$/);
    const { lease } = (await on.store.sessions())[0]!;
    expect(denial.remedy).toContain(`finishes or its lease ends at ${new Date(lease!.until).toISOString()}`);
    expect(evidence).toEqual([]);
    expect(await on.session.evidence()).toEqual(entries);
    expect(await notes(on)).toEqual([{ code: 'session-busy', sessionId: on.session.id }]);
    await on.session.detach();
    await must(second.setMode({ to: 'diagnose' }));
  });

  it('is given to a writer whose session was taken over while its tool ran, and is not added to the chain', async () => {
    for (const release of [false, true]) {
      let during = async (_: ToolCall): Promise<Json> => null;
      const on = await stage({ results: { read: (_, call) => during(call) } });
      await lead(on.session, 'explore');
      const second = await on.reopen();
      during = async ({ assertLease }) => {
        on.clock.advance(1);
        await assertLease!();
        on.clock.advance(1);
        await must(second.setMode({ to: 'discuss', summary: 'taken over' }));
        if (release) await second.detach();
        await expect(assertLease!()).rejects.toMatchObject({ code: 'lease-expired' });
        return 'late';
      };
      const { denial, evidence } = await denied(on.session.step(read));
      expect(denial).toMatchObject({ code: 'lease-expired' });
      expect(denial.message).toContain('another writer took the session over');
      expect(denial.remedy).toContain('Open the session again to see what the other writer did');
      expect(evidence).toEqual([]);
      expect((await second.evidence()).at(-1)?.body).toMatchObject({ event: 'mode', to: 'discuss' });
      expect((await on.store.notes()).map(({ sessionId }) => sessionId)).toContain(on.session.id);
      await second.detach();
      // This call is the first that reads the state of the session.
      expect((await denied(on.session.step(read))).denial.code).toBe('mode-forbids');
    }
  });

  it('is given to a second writer as long as a tool of the first runs, which renews the lease', async () => {
    // Only the timer that renews the lease is faked: other files that run in this worker may leave timers behind.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    let finish = (_: Json) => {};
    const on = await stage({ results: { read: () => new Promise<Json>((resolve) => (finish = resolve)) } });
    try {
      await lead(on.session, 'explore');
      const running = on.session.step(read);
      const second = await on.reopen();
      for (let passed = 0; passed < 120_000; passed += 15_000) {
        on.clock.advance(0.25);
        await vi.advanceTimersByTimeAsync(15_000);
        expect((await denied(second.setMode({ to: 'diagnose' }))).denial.code).toBe('session-busy');
      }
      finish('late');
      await must(running);
      // A writer without running work lets its lease run out.
      for (const minutes of [0.25, 0.25, 0.25]) {
        on.clock.advance(minutes);
        await vi.advanceTimersByTimeAsync(15_000);
      }
      expect(vi.getTimerCount()).toBe(0);
      await must(second.setMode({ to: 'discuss', summary: 'taken over' }));
    } finally {
      vi.useRealTimers();
    }
  });

  it('is not given to a writer whose lease expired if nobody else wrote meanwhile', async () => {
    let during = () => changed('src/a.ts');
    const on = await stage({ results: { edit: () => during() } });
    await lead(on.session, 'edit');
    during = () => {
      on.clock.advance(5);
      return changed('src/a.ts');
    };
    await must(on.session.step({ tool: 'edit', args: { path: 'src/a.ts', old: 'a', new: 'b' } }));
    expect((await on.session.evidence()).at(-1)?.body).toMatchObject({ event: 'outcome', outcome: { status: 'ok' } });
  });
});

it.each(['', ' \n\t', '\u200b\u3164'])(
  'the blank commit message %j does not count, and no operator is asked',
  async (blank) => {
    let asked = 0;
    const approve = async () => {
      asked += 1;
      return { by: 'operator' };
    };
    const { session } = await stage({ approver: { via: 'approver', approve } });
    await lead(session, 'edit');
    const test = async (message: string) => {
      await must(session.hop({ to: 'test', exit: 'hop-test', reason: 'on', fruit: { 'commit-message': message } }));
      await must(session.step({ tool: 'bash-test' }));
    };
    await test(blank);
    const before = asked;
    const hop = { to: 'deploy', exit: 'pass', reason: 'all pass' };
    expect((await denied(session.hop(hop))).denial).toMatchObject({
      code: 'missing-context',
      remedy: 'State commit-message in the fruit when leaving edit.',
    });
    expect(session.available().hops.find(({ to }) => to === 'deploy')?.needs).toContain('commit-message');
    expect(asked).toBe(before);
    await must(session.hop({ to: 'edit', exit: 'hop-edit', reason: 'no message' }));
    await test('Change a');
    await must(session.hop(hop));
    expect(asked).toBe(before + 1);
  },
);
