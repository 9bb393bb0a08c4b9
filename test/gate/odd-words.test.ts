import { describe, expect, it } from 'vitest';
import { decide } from '../../src/gate/decide.ts';
import type { Denial } from '../../src/gate/denial.ts';
import type { GateContext, Request } from '../../src/gate/request.ts';
import { contextOf, viewOf, visitTo } from './views.ts';

function refusalOf(context: GateContext, request: Request): Denial {
  const decision = decide(context, request);
  if (decision.ok) throw new Error('it was allowed');
  return decision.denial;
}

const LONG = 'x'.repeat(100_000);
const ESCAPES = 'a\u001b[2J\nb\u202e\u{e0041}';
const inside = contextOf(viewOf({ visit: visitTo('explore'), mode: 'diagnose' }));

const ASKED: { readonly [what: string]: (odd: string) => Request } = {
  'a tool': (tool) => ({ kind: 'step', tool, args: {} }),
  'an argument': (path) => ({ kind: 'step', tool: 'read', args: { path: `../${path}` } }),
  'the name of an argument': (name) => ({ kind: 'step', tool: 'read', args: { path: 'a', [name]: 1 } }),
  'a target': (to) => ({ kind: 'hop', to, reason: 'on', by: 'agent' }),
  'an exit': (exit) => ({ kind: 'hop', to: 'edit', exit, reason: 'on', by: 'agent' }),
  'the field of a fruit': (field) => ({
    kind: 'hop',
    to: 'edit',
    exit: 'hop-edit',
    reason: 'on',
    by: 'agent',
    fruit: { [field]: 1 },
  }),
  'a mode': (to) => ({ kind: 'mode', to: to as never, by: 'agent' }),
};

describe.each(Object.entries(ASKED))('a refusal that quotes %s', (_what, request) => {
  it('has a bounded length and still names the problem', () => {
    const { message, remedy, about } = refusalOf(inside, request(LONG));
    expect(message.length).toBeLessThan(500);
    expect(remedy.length).toBeLessThan(1000);
    expect(JSON.stringify(about).length).toBeLessThan(5000);
  });

  it('escapes invisible characters', () => {
    const { message, remedy } = refusalOf(inside, request(ESCAPES));
    expect(message + remedy).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });
});

it('a refusal’s data contains the request unescaped', () => {
  expect(refusalOf(inside, ASKED['a tool']!(ESCAPES)).about['tool']).toBe(ESCAPES);
});

describe('a move without a valid destination', () => {
  it.each([
    ['', 'a hop needs "to": the name of one peripheral'],
    ['["edit"]', '"["edit"]" is not the name of a peripheral: "to" must be one name, as a string'],
    ['7', '"7" is not the name of a peripheral: "to" must be one name, as a string'],
  ])('shows a valid hop in its refusal: %j', (to, message) => {
    const denial = refusalOf(inside, { kind: 'hop', to, reason: 'on', by: 'agent' });
    expect(denial).toMatchObject({ code: 'hop-not-allowed', message });
    const [, example] = /Write (\{.*?\})\. /.exec(denial.remedy)!;
    const hop = JSON.parse(example!) as { to: string; exit: string; reason: string };
    expect(decide(inside, { kind: 'hop', by: 'agent', ...hop })).toMatchObject({ ok: true });
  });

  it.each([
    ['', 'a change of mode needs "to": the name of a mode'],
    ['["execute"]', 'there is no mode "["execute"]"'],
  ])('shows a valid mode change in its refusal: %j', (to, message) => {
    const context = contextOf(viewOf({ mode: 'discuss' }));
    const denial = refusalOf(context, { kind: 'mode', to: to as never, by: 'agent' });
    expect(denial).toMatchObject({ code: 'mode-not-allowed', message });
    const [, example] = /Write (\{.*?\})\. /.exec(denial.remedy)!;
    expect(decide(context, { kind: 'mode', by: 'agent', ...(JSON.parse(example!) as { to: 'diagnose' }) }).ok).toBe(
      true,
    );
  });

  it('with a misspelt mode is answered with the nearest one', () => {
    const { remedy } = refusalOf(inside, { kind: 'mode', to: 'exectue' as never, by: 'agent' });
    expect(remedy).toMatch(/^Did you mean execute\? Modes from diagnose:/);
  });
});
