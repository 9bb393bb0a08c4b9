import { describe, expect, it } from 'vitest';
import { verifyConstraints } from '../../src/audit/verify/verify-constraints.ts';
import { compileModeGate } from '../../src/compile/mode-gate.ts';
import type { ToolBackend, ToolReport } from '../../src/ports/tool-backend.ts';
import { loadSpecs } from '../../src/spec/load/load-specs.ts';
import { bestModeOfCall, listModesOfGate } from '../../src/spec/mode-way.ts';
import { parseSpecSet } from '../../src/spec/resolve/parse-spec-set.ts';
import type { Json } from '../../src/spec/types.ts';
import { CONFIG, inTurn, stage } from './sessions.ts';

const operator = await loadSpecs('test/fixtures/specs/database-operator');

/** A database with a copy of the schema in the session state. */
async function database(approver = inTurn({ by: 'ann' })) {
  const migrated: Json[] = [];
  const backend: ToolBackend = {
    name: 'database',
    tools: ['query', 'rehearse', 'migrate', 'verify'],
    run: async ({ tool, args, state }) => {
      if (tool.id === 'migrate') migrated.push(args as Json);
      const copy = {
        migrations: [...((state?.['copy'] as { migrations?: Json[] })?.migrations ?? []), args['migration'] ?? null],
      };
      const reports: { readonly [tool: string]: Partial<ToolReport> } = {
        query: { observed: { rows: 7 } },
        rehearse: { observed: { rehearsal: 'pass' }, state: { copy } },
        verify: { observed: { schema: 'pass' } },
        migrate: { effects: [{ path: String(args['table']), op: 'resource' }] },
      };
      return { outcome: { status: 'ok', result: null }, effects: [], ...reports[tool.id] };
    },
  };
  const at = await stage({ specs: operator, backends: [backend], approver });
  const say = (result: { ok: boolean } & Partial<{ denial: { code: string; message: string; remedy: string } }>) =>
    result.ok ? 'ok' : result.denial!.code;
  const step = async (tool: string, args: Json = {}) => say(await at.session.step({ tool, args }));
  const mode = async (to: string, more: object = {}) => say(await at.session.setMode({ to, ...more }));
  const hop = async (to: string, exit: string) => say(await at.session.hop({ to, exit, reason: 'onwards' }));
  return { ...at, migrated, step, mode, hop };
}

describe('the modes of a gate', () => {
  it('are listed as in gate.yaml, in the order of its transitions', () => {
    expect(listModesOfGate(operator.modeGate!)).toEqual(['watch', 'rehearse', 'incident', 'migrate']);
    expect(Object.keys(compileModeGate(operator.modeGate!).states)).toEqual([
      'watch',
      'rehearse',
      'incident',
      'migrate',
    ]);
  });

  it('are ranked for a call by the effect of the tool, then by the peripheral, then by the number of effects', () => {
    const gate = operator.modeGate!;
    expect(bestModeOfCall(gate, 'live', 'act')).toBe('migrate');
    expect(bestModeOfCall(gate, 'live', undefined)).toBe('migrate');
    const closed = { ...gate, peripherals: { ...gate.peripherals, migrate: ['live'], rehearse: ['stage'] } };
    expect(bestModeOfCall(closed, 'look', 'observe')).toBe('watch');
    expect(bestModeOfCall(closed, 'look', 'act')).toBe('migrate');
    expect(bestModeOfCall(closed, 'stage', 'observe')).toBe('rehearse');
  });

  it('limit a database operator’s session together with scopes, rules, checks and session state, and the audit agrees', async () => {
    const { session, step, mode, hop, migrated, store } = await database();
    expect(session.state.mode).toBe('watch');
    await session.start('look');
    expect(await step('query', ['db:live/orders'])).toBe('ok');
    expect(await step('query', ['db:live/secrets'])).toBe('out-of-scope');
    const early = await session.hop({ to: 'stage', exit: 'plan', reason: 'rows are wrong' });
    expect(early.ok || [early.denial.code, early.denial.remedy]).toEqual([
      'mode-forbids',
      expect.stringContaining('call mode({"to":"rehearse"'),
    ]);
    expect(await mode('migrate')).toBe('mode-not-allowed');
    expect(await mode('execute')).toBe('mode-not-allowed');
    expect(session.why({ tool: 'migrate', args: [] })?.code).toBe('tool-not-allowed');
    expect(await mode('rehearse')).toBe('ok');
    expect(await hop('stage', 'plan')).toBe('ok');
    expect(await step('rehearse', ['alter …'])).toBe('ok');
    expect(await step('migrate', ['db:staging/orders', 'alter …', 3])).toBe('mode-forbids');
    expect(await mode('migrate', { exitCriteria: 'orders have a currency' })).toBe('ok');
    expect(await step('migrate', ['db:staging/orders', 'alter …', 5_000_000])).toBe('condition-failed');
    expect(await step('migrate', ['db:live/orders', 'alter …', 3])).toBe('out-of-scope');
    expect(await step('migrate', ['db:staging/orders', 'alter …', 3])).toBe('ok');
    expect(await hop('live', 'verified')).toBe('exit-not-met');
    expect(await step('verify', ['db:staging/orders'])).toBe('ok');
    expect(await hop('live', 'verified')).toBe('ok');
    expect(await step('migrate', ['db:live/orders', 'alter …', 51])).toBe('condition-failed');
    expect(await step('migrate', ['db:live/orders', 'alter …', 50])).toBe('ok');
    expect(await step('verify', ['db:live/orders'])).toBe('ok');
    expect(await mode('watch')).toBe('summary-required');
    expect(await mode('watch', { summary: 'orders have a currency' })).toBe('ok');
    expect(await hop('report', 'pass')).toBe('ok');
    expect(session.state.backpack['copy']).toEqual({ migrations: ['alter …'] });
    expect((await session.stop('done', { fruit: { told: 'the team' } })).ok).toBe(true);
    expect(migrated).toHaveLength(2);
    expect(await verifyConstraints({ specs: operator, config: CONFIG }, store.entries(session.id))).toMatchObject({
      ok: true,
      violations: [],
      gaps: [],
    });
  });

  it('are the states of the mode gate actor, and a timeout leads to the reset mode', async () => {
    const { session, mode, clock } = await database();
    const { modeGate: actor } = await session.actors;
    await mode('rehearse');
    expect(actor?.getSnapshot().value).toBe('rehearse');
    clock.advance(31);
    await session.settle();
    expect([session.state.mode, actor?.getSnapshot().value]).toEqual(['watch', 'watch']);
  });

  it.each([
    ['initial: a', 'initial: c', 'initial: unknown mode "c"'],
    ['reset: a', 'reset: bb', 'reset: unknown mode "bb"'],
    ['to: b }', 'to: c }', 'transitions.0.to: unknown mode "c"'],
    ['b: {', 'look: {', 'modes.look: "look" is a peripheral too'],
    ['modes: { a: { effects: [] }, b: { effects: [] } }', 'modes: {}', 'modes: names no modes'],
    ['b: {', 'B: {', 'modes'],
  ])('with a mistake in gate.yaml are refused with its name: %s → %s', (from, to, message) => {
    const gate = `initial: a\nmodes: { a: { effects: [] }, b: { effects: [] } }\ntransitions: [{ from: a, to: b }]\nreset: a\n`;
    const look = 'id: look\npurpose: Look.\ntools: []\nscope: { resource: [x] }\nentry: [default]\nexit: []\n';
    const parsed = parseSpecSet([
      { file: 'gate.yaml', text: gate.replace(from, to) },
      { file: 'peripherals/look.yaml', text: look },
    ]);
    expect(parsed.ok ? [] : parsed.problems.map(({ path, message: text }) => `${path}: ${text}`).join()).toContain(
      message,
    );
  });
});
