import { describe, expect, it } from 'vitest';
import { verifyConstraints } from '../../src/audit/verify/verify-constraints.ts';
import type { ApprovalRequest, Approver } from '../../src/ports/approver.ts';
import { parseSpecSet } from '../../src/spec/resolve/parse-spec-set.ts';
import type { Json, SpecSet } from '../../src/spec/types.ts';
import type { ScriptedResult } from '../../src/testing/doubles/scripted-backend.ts';
import { CONFIG, specsOf, stage } from './sessions.ts';

const TOOLS = `tools:
  refund:
    purpose: Pays money back.
    effect: act
    parameters:
      - { name: order-id, role: text, description: The order. }
      - { name: amount, role: text, description: In euros., schema: { type: number } }
      - { name: note, role: text, description: For the customer., optional: true }
    limits: { seconds: 5, output-bytes: 100 }
    gates:
      - when: args.amount <= 500 && (!has(args.note) || size(args.note) < 40000)
      - when: args.order_id == fruit.order || visit.steps > 0
      - approval: operator
`;
const DESK = `id: desk
purpose: Answer customers.
tools: [refund]
scope: talk
entry: [default]
exit: [done]
fruit: { order: { stated: string, optional: true } }
`;
const SCOPES = 'scopes:\n  talk: { read: none, write: [], command: none, url: none }\n';
const files = (tools: string) => ({ 'tools.yaml': tools, 'scopes.yaml': SCOPES, 'peripherals/desk.yaml': DESK });
const specs: SpecSet = specsOf(files(TOOLS.replace(/.*fruit\.order.*\n/, '')));

/** A desk whose operator gives each answer in turn, and the requests that the operator saw. */
async function supportDesk(...answers: boolean[]) {
  return deskWith({ paid: true }, answers);
}

async function deskWith(result: ScriptedResult, answers: boolean[]) {
  const seen: ApprovalRequest[] = [];
  const approver: Approver = {
    via: 'approver',
    approve: async (request) => {
      seen.push(request);
      return answers.shift() ? { by: 'ann' } : null;
    },
  };
  const at = await stage({ specs, approver, results: { refund: result } });
  await at.session.start('desk');
  const refund = async (args: Json) => {
    const result = await at.session.step({ tool: 'refund', args });
    return result.ok ? 'paid' : result.denial.code;
  };
  const verdict = () => verifyConstraints({ specs, config: CONFIG }, at.store.entries(at.session.id));
  return { ...at, seen, refund, verdict };
}

it('a call is refused if a rule about its arguments does not hold, before anybody is asked', async () => {
  const { refund, seen, session, verdict } = await supportDesk(true, true);
  expect(await refund({ 'order-id': 'a', amount: 5_000_000 })).toBe('condition-failed');
  expect(await refund(['a', 500.5])).toBe('condition-failed');
  expect(seen).toEqual([]);
  const why = session.why({ tool: 'refund', args: ['a', 501] });
  expect(why?.message).toContain('args.amount <= 500');
  expect(await refund(['a', 499.5])).toBe('paid');
  expect(await refund({ 'order-id': 'a', amount: 500 })).toBe('paid');
  expect(await verdict()).toMatchObject({ ok: true, violations: [] });
});

it('an approval is for the arguments that were shown, and for one call', async () => {
  const { refund, seen, backend, store, session, verdict } = await supportDesk(true, false, true);
  expect(await refund({ 'order-id': 'a', amount: 500, note: 'x'.repeat(35_000) })).toBe('paid');
  expect(seen[0]).toMatchObject({
    action: { kind: 'step', to: 'refund' },
    view: { args: { 'order-id': 'a', amount: 500 } },
  });
  expect(await refund({ 'order-id': 'a', amount: 500 })).toBe('approval-required');
  expect(await refund({ 'order-id': 'b', amount: 1 })).toBe('paid');
  expect(backend.calls).toHaveLength(2);
  expect(await verdict()).toMatchObject({ ok: true, violations: [] });
  const forged = [];
  for await (const { entry } of store.entries(session.id)) {
    const body = entry.body as { event: string; args?: { amount: number } };
    forged.push(body.event === 'intent' ? { ...entry, body: { ...body, args: { ...body.args, amount: 7 } } } : entry);
  }
  const { violations } = await verifyConstraints({ specs, config: CONFIG }, forged as never);
  expect(violations.map(({ rule }) => rule)).toContain('approval');
});

it('the audit allows a tool to refuse an approved call, and finds a refusal that was changed', async () => {
  const outcome = { status: 'refused', code: 'out-of-scope', message: 'no such till', remedy: 'name another' } as const;
  const { refund, store, session, verdict } = await deskWith(() => ({ outcome, effects: [] }), [true]);
  expect(await refund({ 'order-id': 'a', amount: 500 })).toBe('out-of-scope');
  expect(await verdict()).toMatchObject({ ok: true, violations: [] });
  for (const change of [{ code: 'invalid-action' }, { request: { kind: 'step', tool: 'other', args: [] } }]) {
    const forged = [];
    for await (const { entry } of store.entries(session.id)) {
      const body = entry.body as { event: string };
      forged.push(body.event === 'denial' ? { ...entry, body: { ...body, ...change } } : entry);
    }
    const { violations } = await verifyConstraints({ specs, config: CONFIG }, forged as never);
    expect(violations.map(({ rule }) => rule)).toEqual(['refusal']);
  }
});

it('the audit finds a call that broke its rule, and one that nobody approved', async () => {
  const free = specsOf(files(TOOLS.replace(/ {4}gates:.*/s, '')));
  const at = await stage({ specs: { ...free, hash: specs.hash }, results: { refund: { paid: true } } });
  await at.session.start('desk');
  await at.session.step({ tool: 'refund', args: ['a', 5_000_000] });
  const { violations } = await verifyConstraints({ specs, config: CONFIG }, at.store.entries(at.session.id));
  expect(violations.map(({ rule }) => rule)).toEqual(expect.arrayContaining(['gate', 'approval']));
});

it.each([
  ['args.amuont <= 500', 'unknown fact "args.amuont"'],
  ['args.order_id', 'not true or false'],
  ['arg.amount < 1', 'unknown fact "arg"'],
  ['args.order_id < 5', 'the rule is not valid'],
])('the wrong CEL rule %s of a tool is reported when the specs are read', (rule, problem) => {
  const tools = TOOLS.replace(/when: args\.amount.*/, `when: ${rule}`).replace(/.*fruit\.order.*\n/, '');
  const parsed = parseSpecSet(Object.entries(files(tools)).map(([file, text]) => ({ file, text })));
  expect(parsed.ok ? '' : JSON.stringify(parsed.problems)).toContain(problem.replaceAll('"', '\\"'));
  expect(parsed.ok ? '' : parsed.problems[0]!.path).toContain('tools.refund.gates.0.when');
});

it('an approval is refused for a tool that does not act, whose call leaves no intent', () => {
  const tools = TOOLS.replace('effect: act', 'effect: observe');
  const parsed = parseSpecSet(Object.entries(files(tools)).map(([file, text]) => ({ file, text })));
  expect(parsed.ok ? '' : JSON.stringify(parsed.problems)).toContain('set effect: act');
});

it.each<[unknown, object?]>([
  [true],
  ['ann'],
  [{}],
  [{ by: '' }],
  [{ by: 7 }],
  [{ by: 'ann\n' }],
  [{ by: 'ann', minutes: Number.NaN }],
  [{ by: 'ann', minutes: '5' }],
  [{ by: 'ann', minutes: 1e15 }],
  [{ by: 'ann', grant: { minutes: 5 } }],
  [{ by: 'ann', grant: { until: 9e15 } }],
  [{ by: 'ann', grant: { until: -9e15 } }],
  [{ declined: true }],
  [{ by: 'ann' }, { via: 'chat' }],
  [{ by: 'ann' }, { via: 'grant' }],
])('the answer %j approves nothing and is not recorded', async (answer, more = {}) => {
  const { session, backend, store } = await supportDesk();
  const approver = { via: 'approver', approve: async () => answer, ...more } as Approver;
  const before = (await session.evidence()).length;
  await expect(session.step({ tool: 'refund', args: ['a', 5] }, { approver })).rejects.toThrow(/^(the|an) approver/);
  expect([backend.calls.length, (await session.evidence()).length]).toEqual([0, before]);
  await session.detach();
  expect((await verifyConstraints({ specs, config: CONFIG }, store.entries(session.id))).violations).toEqual([]);
});

it('an approver that changes its request changes neither the call nor the record', async () => {
  const { session, backend, verdict } = await supportDesk();
  const approve = async (request: ApprovalRequest) => {
    (request.view['args'] as { amount: number }).amount = 400;
    return { by: 'ann' };
  };
  const done = await session.step({ tool: 'refund', args: ['a', 5] }, { approver: { via: 'approver', approve } });
  expect(done.ok).toBe(true);
  expect(backend.calls.map(({ args }) => args['amount'])).toEqual([5]);
  expect(await verdict()).toMatchObject({ ok: true, violations: [] });
});

describe('the signal of a call ends the wait for an approval', () => {
  const abort = new AbortController();
  const { signal } = abort;
  const approve = (): Promise<never> => {
    abort.abort();
    return new Promise(() => {});
  };
  const approver: Approver = { via: 'approver', approve };
  const refusal = {
    ok: false,
    denial: { code: 'approval-required', message: expect.stringContaining('the call was aborted') },
  };

  it('of a tool call, and the session continues', async () => {
    const { session } = await stage({ specs, approver });
    await session.start('desk');
    expect(await session.step({ tool: 'refund', args: ['a', 1], signal })).toMatchObject(refusal);
    expect(await session.stop('done')).toMatchObject({ ok: true });
  });

  it('of a change of mode', async () => {
    const { session } = await stage({ approver });
    await session.setMode({ to: 'diagnose' });
    expect(await session.setMode({ to: 'execute', reason: 'x' }, { signal })).toMatchObject(refusal);
  });
});
