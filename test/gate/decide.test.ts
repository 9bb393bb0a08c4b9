import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { availableActions } from '../../src/gate/available-actions.ts';
import { decide, validateHop } from '../../src/gate/decide.ts';
import { DENIAL_CODES } from '../../src/gate/denial.ts';
import { describeDenial } from '../../src/gate/describe-denial.ts';
import type { Request } from '../../src/gate/request.ts';
import type { SessionView } from '../../src/gate/session-view.ts';
import { type Mode, PRINCIPALS, type Principal, type SpecSet } from '../../src/spec/types.ts';
import { depth } from '../depth.ts';
import { MODES } from '../fixture-specs.ts';
import { answer, contextOf, fixtureSpecs, viewOf, visitTo } from './views.ts';

const freeze = <T>(value: T): T => {
  if (value !== null && typeof value === 'object' && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) freeze(inner);
  }
  return value;
};

describe('the gate’s decision', () => {
  const names = fc.constantFrom(...Object.keys(fixtureSpecs.peripherals), 'nowhere', 'constructor', '');
  const exits = fc.constantFrom(...new Set(fixtureSpecs.edges.map(({ exit }) => exit)), 'none');
  const by = fc.constantFrom(...PRINCIPALS);
  const json = fc.jsonValue({ noUnicodeString: false } as never) as fc.Arbitrary<never>;
  const request: fc.Arbitrary<Request> = fc.oneof(
    fc.record({ kind: fc.constant('start' as const), peripheral: names, by }),
    fc.record({
      kind: fc.constant('step' as const),
      tool: fc.constantFrom(...Object.keys(fixtureSpecs.tools), 'toString'),
      args: fc.oneof(json, fc.constant({ path: 'src/a.ts' })),
    }),
    fc.record({ kind: fc.constant('hop' as const), to: names, exit: exits, reason: fc.string(), by }),
    fc.record({
      kind: fc.constant('stop' as const),
      reason: fc.string(),
      by,
      fruit: fc.dictionary(fc.constantFrom('commit-message', 'constructor', 'x'), json),
    }),
    fc.record({
      kind: fc.constant('mode' as const),
      to: fc.constantFrom(...MODES),
      by,
      reset: fc.boolean(),
      summary: fc.string(),
    }),
    fc.record({ kind: fc.constant('close' as const), reason: fc.string(), by }),
  );
  const view: fc.Arbitrary<SessionView> = fc
    .record({
      visit: fc.option(
        fc
          .constantFrom(...Object.keys(fixtureSpecs.peripherals))
          .map((id) => visitTo(id, { observedFruit: { result: 'pass' } })),
      ),
      mode: fc.constantFrom(...MODES),
      closed: fc.boolean(),
      naturalClose: fc.boolean(),
      visits: fc.constantFrom<{ readonly [peripheral: string]: number }>({}, { explore: 1 }),
    })
    .map((some) => viewOf(some));
  it('is the same for the same request, changes nothing, uses no clock and always has a message', () => {
    const clock = Date.now;
    const codes = new Set<string>();
    Date.now = () => {
      throw new Error('the gate has no clock');
    };
    try {
      fc.assert(
        fc.property(view, request, (seen, asked) => {
          const context = freeze(contextOf(seen));
          const first = decide(context, freeze(asked));
          expect(decide(context, asked)).toEqual(first);
          if (first.ok) return;
          codes.add(first.denial.code);
          expect(first.denial.message).toMatch(/\S/);
          expect(first.denial.remedy).toMatch(/\S/);
          expect(`${first.denial.message} ${first.denial.remedy}`).not.toMatch(/undefined|\[object/);
        }),
        { numRuns: depth(400, 2000) },
      );
    } finally {
      Date.now = clock;
    }
    expect(codes.size).toBeGreaterThan(9);
  });
});

it('every denial code has a message, even without details', () => {
  const here = availableActions(fixtureSpecs, viewOf());
  const words = DENIAL_CODES.map((code) => describeDenial(code, {}, here, null));
  for (const { message, remedy } of words) expect([message, remedy].every((text) => /\S/.test(text))).toBe(true);
  expect(new Set(words.map(({ message }) => message)).size).toBe(DENIAL_CODES.length);
});

describe('validateHop', () => {
  it('gives the decision of the real hop, for the agent unless it names another principal', () => {
    const context = contextOf(viewOf({ visit: visitTo('chat') }));
    expect(validateHop(context, { to: 'explore', exit: 'hop-explore', reason: 'on' })).toMatchObject({
      ok: true,
      plan: { edge: { exit: 'hop-explore' } },
    });
    expect(validateHop(context, { to: 'edit', exit: 'hop-edit', reason: 'on' })).toMatchObject({
      ok: false,
      denial: { code: 'entry-not-met' },
    });
    expect(validateHop(context, { to: 'edit', exit: 'hop-edit', reason: 'on', by: 'operator' }).ok).toBe(true);
  });
});

describe('the mode gate', () => {
  const lawful: { readonly [pair: string]: string } = {
    'discuss diagnose': 'ok',
    'diagnose execute': 'ok',
    'execute discuss': 'ok',
  };
  const pairs = MODES.flatMap((from) => MODES.map((to) => [from, to] as const));
  const change = (from: Mode, to: Mode, by: Principal, more: object = {}) =>
    answer(contextOf(viewOf({ mode: from })), { kind: 'mode', to, by, summary: 'done', ...more });

  it.each(pairs)('allows the change from %s to %s only if the table of transitions does', (from, to) => {
    const plain = lawful[`${from} ${to}`] ?? 'mode-not-allowed';
    expect(change(from, to, 'agent')).toBe(plain);
    expect(change(from, to, 'operator')).toBe(plain);
    // Back to DISCUSS from anywhere else: the operator’s reset, the clock’s timeout; an agent’s reset never.
    const back = to === 'discuss' && from !== 'discuss' ? 'ok' : 'mode-not-allowed';
    expect(change(from, to, 'operator', { reset: true })).toBe(back);
    expect(change(from, to, 'clock')).toBe(back);
    expect(change(from, to, 'agent', { reset: true })).toBe('mode-not-allowed');
  });
  it('requires an approval for EXECUTE and a summary for leaving it, except for a reset', () => {
    const decideMode = (from: Mode, to: Mode, more: object) =>
      decide(contextOf(viewOf({ mode: from })), { kind: 'mode', to, by: 'operator', ...more });
    expect(decideMode('diagnose', 'execute', {})).toMatchObject({ ok: false, denial: { code: 'approval-required' } });
    expect(decideMode('diagnose', 'execute', { exitCriteria: 'green' })).toMatchObject({
      wanted: { subject: { view: { 'exit criteria': 'green' } } },
    });
    expect(decideMode('execute', 'discuss', {})).toMatchObject({ ok: false, denial: { code: 'summary-required' } });
    expect(decideMode('execute', 'discuss', { reset: true })).toMatchObject({
      ok: true,
      plan: { how: 'reset', approval: null },
    });
  });
  it('names the needs of each change on the path to a refused mode, next to that change', () => {
    const gate = fixtureSpecs.modeGate!;
    const transitions = gate.transitions.map((leg) => ({
      ...leg,
      approval: leg.to === 'diagnose' ? 'operator' : null,
    }));
    const specs = { ...fixtureSpecs, modeGate: { ...gate, transitions } } as SpecSet;
    const decision = decide(contextOf(viewOf({ mode: 'discuss' }), specs), {
      kind: 'mode',
      to: 'execute',
      by: 'agent',
    });
    expect(decision).toMatchObject({
      denial: {
        remedy:
          'Call mode({"to":"diagnose","reason":"…"}) (needs: approval by operator), then mode({"to":"execute","reason":"…"}).',
        about: {
          modes: [
            { to: 'diagnose', needs: ['approval by operator'] },
            { to: 'execute', needs: [] },
          ],
        },
      },
    });
  });
  it('refuses every change if the spec set has none', () => {
    const none: SpecSet = { ...fixtureSpecs, modeGate: null };
    const decision = decide(contextOf(viewOf({ mode: null }), none), { kind: 'mode', to: 'diagnose', by: 'operator' });
    expect(decision).toMatchObject({
      ok: false,
      denial: { code: 'mode-not-allowed', message: 'this spec set has no mode gate' },
    });
  });
  it('limits peripherals to the modes that gate.yaml states', () => {
    const gate = {
      ...fixtureSpecs.modeGate!,
      peripherals: { ...fixtureSpecs.modeGate!.peripherals, discuss: ['chat'] },
    };
    const only = contextOf(viewOf({ mode: 'discuss' }), { ...fixtureSpecs, modeGate: gate });
    expect(answer(only, { kind: 'start', peripheral: 'explore', by: 'agent' })).toBe('mode-forbids');
    expect(answer(only, { kind: 'start', peripheral: 'chat', by: 'agent' })).toBe('ok');
  });
});

describe('the limits', () => {
  const inTest = (some: Partial<SessionView['visit'] & object>, now = 1000) =>
    contextOf(viewOf({ now, visit: visitTo('test', { observedFruit: { result: null }, ...some }) }));
  const read: Request = { kind: 'step', tool: 'read', args: ['src/a.ts'] };
  it.each([
    ['one step before the limit', inTest({ steps: 99 }), 'ok'],
    ['at the limit of steps', inTest({ steps: 100 }), 'limit-reached'],
    ['just before the deadline', inTest({ deadline: 1001 }), 'ok'],
    ['at the deadline', inTest({ deadline: 1000 }), 'limit-reached'],
    ['expired', inTest({ status: 'expired' }), 'limit-reached'],
  ] as const)('of a visit allow or refuse a step: %s', (_name, context, expected) => {
    expect(answer(context, read)).toBe(expected);
    expect(answer(context, { kind: 'stop', reason: 'enough', by: 'agent' })).toBe('ok');
    expect(answer(context, { kind: 'hop', to: 'reflect', exit: 'hop-reflect', reason: 'on', by: 'operator' })).toBe(
      'ok',
    );
  });
});

describe('a hop with an invalid fruit', () => {
  it.each<[string, { to: string; exit?: string }, string]>([
    ['to a peripheral without an edge', { to: 'deploy' }, 'hop-not-allowed'],
    ['by an exit that leads elsewhere', { to: 'edit', exit: 'hop-discipline' }, 'hop-not-allowed'],
    ['by an unknown exit', { to: 'edit', exit: 'away' }, 'exit-not-met'],
    ['by an edge', { to: 'edit', exit: 'hop-edit' }, 'invalid-fruit'],
    ['by one of several exits', { to: 'edit' }, 'invalid-fruit'],
  ])('%s is refused for the edge first, then for the fruit', (_name, by, code) => {
    const explore = contextOf(viewOf({ visit: visitTo('explore') }));
    const fruit = { nonsense: 1 };
    expect(answer(explore, { kind: 'hop', ...by, reason: 'on', by: 'agent', fruit })).toBe(code);
  });
});

describe('unknown names', () => {
  const explore = contextOf(viewOf({ visit: visitTo('explore') }));
  const denial = (request: Request) => {
    const decision = decide(explore, request);
    return decision.ok ? null : decision.denial;
  };
  it('are answered with the nearest known peripheral or tool', () => {
    expect(denial({ kind: 'hop', to: 'eidt', reason: 'on', by: 'agent' })).toMatchObject({
      code: 'hop-not-allowed',
      message: 'there is no peripheral "eidt"',
      remedy: expect.stringContaining('Did you mean edit?'),
    });
    expect(denial({ kind: 'step', tool: 'gerp', args: {} })?.remedy).toContain('Did you mean grep?');
    expect(denial({ kind: 'step', tool: 'zzzzzzzz', args: {} })?.remedy).not.toContain('Did you mean');
  });
  it('include names such as constructor, which every object inherits', () => {
    expect(denial({ kind: 'hop', to: 'constructor', reason: 'on', by: 'agent' })?.code).toBe('hop-not-allowed');
    expect(denial({ kind: 'step', tool: 'constructor', args: {} })?.code).toBe('unknown-tool');
    expect(denial({ kind: 'stop', reason: 'x', by: 'agent', fruit: { constructor: 1 } as never })?.code).toBe(
      'invalid-fruit',
    );
  });
  it('of agents are refused in a peripheral that lists its agents', () => {
    const specs = {
      ...fixtureSpecs,
      peripherals: { ...fixtureSpecs.peripherals, chat: { ...fixtureSpecs.peripherals['chat']!, agents: ['keeper'] } },
    };
    const start: Request = { kind: 'start', peripheral: 'chat', by: 'operator' };
    expect(answer(contextOf(viewOf({ agent: 'keeper' }), specs), start)).toBe('ok');
    expect(answer(contextOf(viewOf({ agent: 'keeper-2' }), specs), start)).toBe('agent-not-allowed');
  });
});
