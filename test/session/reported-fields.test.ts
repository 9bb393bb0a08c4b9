import { describe, expect, it } from 'vitest';
import { verifyConstraints } from '../../src/audit/verify/verify-constraints.ts';
import type { Body } from '../../src/evidence/bodies.ts';
import type { ToolBackend, ToolCall, ToolReport } from '../../src/ports/tool-backend.ts';
import { parseSpecSet } from '../../src/spec/resolve/parse-spec-set.ts';
import { CONFIG, specsOf, stage } from './sessions.ts';

const TOOLS = `tools:
  move:
    purpose: Moves in the game.
    effect: simulate
    parameters: [{ name: to, role: text, description: Where. }]
    limits: { seconds: 5, output-bytes: 100 }
    observes: { won: boolean, score: number }
    state: { game: object }
  look:
    purpose: Looks at places.
    effect: observe
    parameters: [{ name: to, role: text, description: Where., schema: { type: array } }]
    limits: { seconds: 5, output-bytes: 100 }
    state: { game: object }
  migrate:
    purpose: Changes the schema.
    effect: act
    parameters: []
    limits: { seconds: 5, output-bytes: 100 }
  verify-migration:
    purpose: Verifies the schema.
    effect: observe
    parameters: []
    limits: { seconds: 5, output-bytes: 100 }
    observes: { migration: [pass, fail] }
`;
const SPECS = {
  'tools.yaml': TOOLS,
  'gate.yaml': `initial: look
modes: { discuss: { effects: [coordinate] }, diagnose: { effects: [observe, simulate] }, execute: { effects: [observe, act, simulate] } }
transitions: [{ from: discuss, to: diagnose }, { from: diagnose, to: execute }]
reset: discuss
`.replace('initial: look', 'initial: discuss'),
  'scopes.yaml': 'scopes:\n  talk: { read: none, write: [], command: none, url: none }\n',
  'peripherals/game.yaml': `id: game
purpose: Play.
tools: [move, look, migrate, verify-migration]
scope: talk
entry: [default, from-chat, user-request]
exit: { won: { to: chat, when: fruit.won }, out: chat, pass: ship, fail: chat, leave: ship }
context: { game: resumable }
fruit: { won: { observed: boolean }, points: { observed: number, from: score }, migration: { observed: [pass, fail] } }
`,
  'peripherals/chat.yaml': `id: chat
purpose: Talk.
tools: []
scope: talk
entry: [from-game, from-ship]
exit: { back: game, again: ship }
`,
  'peripherals/ship.yaml': `id: ship
purpose: Ship.
tools: []
scope: talk
entry: [from-game, from-chat, migration-passed]
exit: { back: chat }
`,
};

/** A game whose state is in the session state; it counts the moves. */
async function play(report?: (call: ToolCall) => Partial<ToolReport>) {
  const calls: ToolCall[] = [];
  const backend: ToolBackend = {
    name: 'game',
    tools: ['move', 'look', 'migrate', 'verify-migration'],
    run: async (call) => {
      calls.push(call);
      const effects = call.tool.id === 'migrate' ? ('unobserved' as const) : [];
      const game = (call.state?.['game'] ?? { at: 'start', moves: 0 }) as { at: string; moves: number };
      const next = { at: String(call.args['to']), moves: game.moves + 1 };
      return {
        outcome: { status: 'ok', result: null },
        effects,
        ...(call.tool.id === 'move'
          ? { observed: { won: next.moves > 2, score: next.moves }, state: { game: next } }
          : {}),
        ...(call.tool.id === 'verify-migration' ? { observed: { migration: 'pass' } } : {}),
        ...report?.(call),
      };
    },
  };
  const specs = specsOf(SPECS);
  const at = await stage({ specs, backends: [backend] });
  const move = (to: string) => at.session.step({ tool: 'move', args: { to } });
  const verdict = (change: (body: Body) => Body = (body) => body) => {
    const entries = async function* () {
      for await (const { entry } of at.store.entries(at.session.id))
        yield { ...entry, body: change(entry.body as unknown as Body) as never };
    };
    return verifyConstraints({ specs, config: CONFIG }, entries());
  };
  await at.session.start('game');
  return { ...at, specs, calls, move, verdict };
}

describe('a tool that simulates', () => {
  it('is allowed in DIAGNOSE, not in DISCUSS, and leaves an intent and an outcome', async () => {
    const { session, move, verdict } = await play();
    const early = await move('kitchen');
    expect(early.ok || early.denial.code).toBe('mode-forbids');
    await session.setMode({ to: 'diagnose' });
    const done = await move('kitchen');
    expect(done.ok && done.evidence.map(({ body }) => (body as { event: string }).event)).toEqual([
      'intent',
      'outcome',
    ]);
    const act = await session.step({ tool: 'migrate' });
    expect(act.ok || act.denial.code).toBe('mode-forbids');
    expect(await verdict()).toMatchObject({ ok: true, violations: [] });
  });

  it('may change no file', async () => {
    const { session, move, verdict } = await play(() => ({ effects: [{ path: 'a.txt', op: 'modify' }] }));
    await session.setMode({ to: 'diagnose' });
    await move('kitchen');
    expect((await verdict()).violations.map(({ rule }) => rule)).toContain('effect');
  });
});

describe('the effect `read` of an own tool', () => {
  it('counts as a file that the visit found, for the gate and the audit', async () => {
    const specs = specsOf({
      'tools.yaml': TOOLS,
      'gate.yaml': SPECS['gate.yaml'],
      'scopes.yaml': 'scopes:\n  sources: { read: root, write: [], command: none, url: none }\n',
      'peripherals/chat.yaml': `id: chat
purpose: Look.
tools: [look]
scope: sources
entry: [default]
exit: { back: chat }
fruit: { seen: { observed: list, from: found } }
`,
    });
    const backend: ToolBackend = {
      name: 'looker',
      tools: ['look'],
      run: async () => ({
        outcome: { status: 'ok', result: null },
        effects: [{ path: 'src/a.ts', op: 'read' }],
      }),
    };
    const { session, store } = await stage({ specs, backends: [backend] });
    await session.start('chat');
    await session.setMode({ to: 'diagnose' });
    await session.step({ tool: 'look', args: { to: ['src'] } });
    expect(await session.stop('seen')).toMatchObject({ ok: true, fruit: { seen: ['src/a.ts'] } });
    const entries = async function* () {
      for await (const { entry } of store.entries(session.id)) yield entry;
    };
    expect(await verifyConstraints({ specs, config: CONFIG }, entries())).toMatchObject({ ok: true, violations: [] });
  });
});

describe('session state', () => {
  it('comes back to the tool after hops, whatever the agent supplies', async () => {
    const { session, move, calls, verdict, reopen } = await play();
    await session.setMode({ to: 'diagnose' });
    await move('kitchen');
    expect(await session.hop({ to: 'chat', exit: 'out', reason: 'stuck' })).toMatchObject({
      ok: true,
      fruit: { won: false, points: 1, migration: null },
    });
    const back = await session.hop({ to: 'game', exit: 'back', reason: 'play on' });
    expect(back).toMatchObject({ ok: true, context: { game: { at: 'kitchen', moves: 1 } } });
    await session.detach();
    const later = await reopen();
    await later.step({ tool: 'move', args: { to: 'hall' } });
    expect(calls.at(-1)?.state).toEqual({ game: { at: 'kitchen', moves: 1 } });
    await later.stop('enough');
    const again = await later.start('game', { by: 'operator', context: { game: { at: 'goal', moves: 99 } } });
    expect(again).toMatchObject({ ok: true, context: { game: { at: 'hall', moves: 2 } } });
    expect(later.state.backpack['game']).toEqual({ at: 'hall', moves: 2 });
    expect(await verdict()).toMatchObject({ ok: true, violations: [] });
  });

  it('does not change, like the recorded arguments, if a backend changes its copies', async () => {
    const { session, move, reopen } = await play((call) => {
      const game = call.state?.['game'] as { moves: number } | undefined;
      if (!game) return {};
      game.moves = 99;
      (call.args as { to: string[] })['to'].push('goal');
      return { outcome: { status: 'failed', code: 'stuck', message: 'No way.' }, state: {} };
    });
    await session.setMode({ to: 'diagnose' });
    await move('kitchen');
    await session.step({ tool: 'look', args: { to: ['hall'] } });
    expect((await session.evidence()).at(-1)?.body).toMatchObject({ event: 'step', args: { to: ['hall'] } });
    expect(session.state.backpack['game']).toEqual({ at: 'kitchen', moves: 1 });
    await session.detach();
    expect((await reopen()).state.backpack['game']).toEqual({ at: 'kitchen', moves: 1 });
  });

  it('is refused from a backend that did not declare it, or with another type', async () => {
    for (const report of [{ state: { gme: {} } }, { state: { game: 'x' } }, { observed: { won: 1 } }]) {
      const { session, move, verdict } = await play(() => report as never);
      await session.setMode({ to: 'diagnose' });
      expect(await move('kitchen')).toMatchObject({ ok: true, outcome: 'failed', error: { code: 'backend-error' } });
      expect(session.state.backpack['game']).toBeUndefined();
      expect(await verdict()).toMatchObject({ ok: true });
    }
  });

  it('is found by the audit if it was forged in the outcome, the context or the fruit', async () => {
    const { session, move, verdict } = await play();
    await session.setMode({ to: 'diagnose' });
    await move('kitchen');
    await session.hop({ to: 'chat', exit: 'out', reason: 'stuck' });
    await session.hop({ to: 'game', exit: 'back', reason: 'play on' });
    const rules = async (change: (body: Body) => Body) => (await verdict(change)).violations.map(({ rule }) => rule);
    expect(await rules((body) => body)).toEqual([]);
    const outcome = (more: object) => (body: Body) => (body.event === 'outcome' ? { ...body, ...more } : body);
    expect(await rules(outcome({ state: { game: { at: 'kitchen', moves: 2 } } }))).toEqual(['context']);
    expect(await rules(outcome({ state: { other: 1 } }))).toEqual(['effect', 'context']);
    expect(await rules(outcome({ observed: { won: true, score: 1 } }))).toEqual(['fruit']);
    expect(await rules(outcome({ observed: { won: 'no', score: 1 } }))).toEqual(['effect', 'fruit']);
    const context = { game: { at: 'goal', moves: 9 } };
    // The start from outside, which has the facts of its own event.
    expect(await rules((body) => (body.event === 'start' && body.facts ? { ...body, context } : body))).toEqual([
      'context',
    ]);
    expect(
      await rules((body) => (body.event === 'start' && body.peripheral === 'game' ? { ...body, context } : body)),
    ).toContain('context');
  });
});

describe('observed fruit of a backend', () => {
  it('opens exits by its value and in a rule', async () => {
    const { session, move } = await play();
    await session.setMode({ to: 'diagnose' });
    await move('a');
    const early = await session.hop({ to: 'chat', exit: 'won', reason: 'won' });
    expect(early.ok || early.denial.code).toBe('exit-not-met');
    const claimed = await session.hop({ to: 'chat', exit: 'won', reason: 'won', fruit: { won: true } });
    expect(claimed.ok || claimed.denial.code).toBe('invalid-fruit');
    await move('b');
    await move('c');
    expect(await session.hop({ to: 'chat', exit: 'won', reason: 'won' })).toMatchObject({ ok: true });
  });

  it('with the value pass does not count if the call failed', async () => {
    const { session, verdict } = await play(() => ({ outcome: { status: 'failed', code: 'down', message: 'No.' } }));
    await session.setMode({ to: 'diagnose' });
    await session.step({ tool: 'verify-migration' });
    const left = await session.hop({ to: 'ship', exit: 'pass', reason: 'passed' });
    expect(left.ok || [left.denial.code, left.denial.remedy]).toEqual([
      'exit-not-met',
      expect.stringMatching(/^Call verify-migration until migration is pass/),
    ]);
    expect((await verdict()).violations).toEqual([]);
    const forged = (body: Body) => (body.event === 'step' ? { ...body, observed: { migration: 'pass' } } : body);
    expect((await verdict(forged)).violations.map(({ constraint }) => constraint)).toContain(
      'no check passes in a call that failed',
    );
  });

  it('with the value pass counts as an entry condition until the next change', async () => {
    const { session, verdict } = await play();
    await session.setMode({ to: 'diagnose' });
    await session.setMode({ to: 'execute' });
    const leave = () => session.hop({ to: 'ship', exit: 'leave', reason: 'ship it' });
    const first = await leave();
    expect(first.ok || [first.denial.code, first.denial.remedy]).toEqual([
      'condition-failed',
      'Run verify-migration after the last change, until it reports migration: pass.',
    ]);
    await session.step({ tool: 'verify-migration' });
    await session.step({ tool: 'migrate' });
    const stale = await leave();
    expect(stale.ok || stale.denial.code).toBe('condition-failed');
    await session.step({ tool: 'verify-migration' });
    expect(await leave()).toMatchObject({ ok: true, exit: 'leave' });
    expect((await verdict()).violations).toEqual([]);
    const forged = await verdict((body) =>
      body.event === 'step' && body.tool === 'verify-migration' ? { ...body, observed: { migration: 'fail' } } : body,
    );
    expect(forged.violations.map(({ rule }) => rule)).toContain('condition');
  });
});

it.each([
  ['game', 'out', 'from-game', 'Call move, which reports score, before the hop.'],
  ['game', 'out', 'inherit', 'Call move, which reports score, before the hop.'],
  ['chat', 'again', 'from-game', 'Call move, which reports score, in a visit to game.'],
])(
  'a hop from %s by %s is refused while a context field (%s) has no value, and the remedy names the tool that reports it',
  async (from, exit, source, remedy) => {
    const needs = (id: 'chat' | 'ship') => `${SPECS[`peripherals/${id}.yaml`]}context: { points: ${source} }\n`;
    const specs = specsOf({
      ...SPECS,
      'tools.yaml': TOOLS.replace('effect: simulate', 'effect: observe'),
      [`peripherals/${from === 'game' ? 'chat' : 'ship'}.yaml`]: needs(from === 'game' ? 'chat' : 'ship').replace(
        ', migration-passed',
        '',
      ),
    });
    const report = { outcome: { status: 'ok' as const, result: null }, effects: [], observed: { score: 3 } };
    const { session } = await stage({ specs, backends: [{ name: 'game', tools: ['move'], run: async () => report }] });
    const leave = (by: string, to: string) => session.hop({ to, exit: by, reason: 'on', by: 'agent' });
    await session.start('game');
    if (from === 'chat') await leave('out', 'chat');
    const to = from === 'game' ? 'chat' : 'ship';
    const refused = await leave(exit, to);
    expect(refused.ok || [refused.denial.code, refused.denial.remedy]).toEqual(['missing-context', remedy]);
    await session.setMode({ to: 'diagnose' });
    if (from === 'chat') await leave('back', 'game');
    await session.step({ tool: 'move', args: ['x'] });
    if (from === 'chat') await leave('out', 'chat');
    expect((await leave(exit, to)).ok).toBe(true);
  },
);

it('every mistake in the reported fields of a tool is named', () => {
  const problems = (tools: string, game = SPECS['peripherals/game.yaml']) => {
    const sources = { ...SPECS, 'tools.yaml': tools, 'peripherals/game.yaml': game };
    const parsed = parseSpecSet(Object.entries(sources).map(([file, text]) => ({ file, text })));
    return parsed.ok ? [] : parsed.problems.map(({ path, message }) => `${path}: ${message}`);
  };
  expect(problems(TOOLS)).toEqual([]);
  for (const own of ['result', 'tests'])
    expect(problems(TOOLS.replace('won: boolean', `${own}: [pass, fail]`))).toContain(
      `tools.move.observes.${own}: "${own}" is an observation of hopgate's own`,
    );
  expect(problems(TOOLS.replace('game: object', 'author: string'))).toContain(
    'tools.move.state.author: "author" is a field of hopgate\'s own',
  );
  expect(problems(TOOLS.replace('game: object', 'won: object'))).toContain(
    'tools.move.state.won: "won" is in observes of move too',
  );
  expect(problems(TOOLS.replace('[pass, fail] }', '[pass, fail] }\n    state: { game: string }'))).toContain(
    'tools.move.state.game: "game" has another type in verify-migration',
  );
  const game = SPECS['peripherals/game.yaml'];
  expect(problems(TOOLS, game.replace('won: { observed: boolean }', 'won: { observed: string }'))).toContain(
    'peripherals.game.fruit.won.observed: tools report "won" as boolean',
  );
  expect(problems(TOOLS, game.replace('fruit: {', 'fruit: { game: { stated: object },'))).toContain(
    'peripherals.game.fruit.game: "game" is session state, which tools keep',
  );
  expect(problems(TOOLS, game.replace('from: score', 'from: scroe')).join()).toContain('unknown observation "scroe"');
});

it('a hop back from a peripheral that yields a review names the entry that showed the failed check', async () => {
  const placeOf = (id: string, rest: string) => ({
    [`peripherals/${id}.yaml`]: `id: ${id}\npurpose: Check.\ntools: [verify-migration]\nscope: talk\n${rest}`,
  });
  const specs = specsOf({
    'tools.yaml': TOOLS,
    'scopes.yaml': SPECS['scopes.yaml'],
    ...placeOf('one', 'entry: [default, from-two]\nexit: { on: two }\n'),
    ...placeOf(
      'two',
      'entry: from-one\nexit: { pass: one, fail: one }\nfruit: { migration: { observed: [pass, fail] }, par: { observed: object } }\n',
    ),
  });
  const report = { outcome: { status: 'ok', result: null }, effects: [], observed: { migration: 'fail' } } as const;
  const { session, store } = await stage({
    specs,
    backends: [{ name: 'game', tools: ['move', 'look', 'migrate', 'verify-migration'], run: async () => report }],
  });
  await session.start('one');
  await session.hop({ to: 'two', exit: 'on', reason: 'check it' });
  const checked = await session.step({ tool: 'verify-migration', args: {} });
  const back = await session.hop({ to: 'one', exit: 'fail', reason: 'it failed' });
  expect(back.evidence.map(({ body }) => body)).toContainEqual(
    expect.objectContaining({ reframe: { expected: 'pass', actual: 'fail', shownBy: checked.evidence.at(-1)!.id } }),
  );
  expect((await verifyConstraints({ specs, config: CONFIG }, store.entries(session.id))).violations).toEqual([]);
});
