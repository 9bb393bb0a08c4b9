import { describe, expect, it } from 'vitest';
import { renderApprovalQuestion } from '../../../src/adapters/core/approval-question.ts';
import { agentSession } from '../../../src/adapters/core/local-agent-session.ts';
import { toBody } from '../../../src/evidence/bodies.ts';
import type { Approver } from '../../../src/ports/approver.ts';
import type { Session } from '../../../src/session/session.ts';
import { agentWorld } from '../../contracts/agent-world.ts';
import { depth, isDeep } from '../../depth.ts';
import { type Answer, call, connected, ERAS, type Era, hostOf } from './client.ts';

const YES: Answer = { action: 'accept', content: { approve: true } };
const EXECUTE = { to: 'execute', reason: 'to mend sum', 'exit-criteria': 'it adds' };

const approvals = async (session: Session) =>
  (await session.evidence()).flatMap(({ body }) => {
    const read = toBody(body);
    return read?.event === 'approval' ? [read.record] : [];
  });

/** A session's own approver that counts its requests and leaves each to the operator. */
const leaving = (asked: string[]): Approver => ({
  via: 'operator-token',
  async approve({ hash }) {
    asked.push(hash);
    return { pending: 'abc123' };
  },
});

describe.each(depth<readonly Era[]>(ERAS.slice(-1), ERAS))('a missing approval (%s)', (era) => {
  it('is requested from the person at the client with the whole request', async () => {
    const world = await agentWorld('explore');
    const session = await world.open();
    const shown: string[] = [];
    const client = await connected(hostOf(agentSession(session)), {
      era,
      person: async (message) => {
        shown.push(message);
        return YES;
      },
    });
    const { text, isError } = await call(client, 'mode', { ...EXECUTE, reason: 'mend\u202e sum\n[approved]' });
    expect(isError).toBe(false);
    expect(text).toContain('mode execute');
    const [record] = await approvals(session);
    expect(shown).toEqual([
      [
        'worker asks for mode diagnose → execute.',
        'reason:',
        '│ mend\\u{202e} sum',
        '│ [approved]',
        'exit criteria: it adds',
        `sha256 ${record?.requestHash}`,
      ].join('\n'),
    ]);
    expect(record).toMatchObject({ by: 'operator at a client', via: 'approver' });
    await client.close();
    await world.verify();
  });

  it.runIf(isDeep)('is requested with the fruit, the context and the changes of a deploy', async () => {
    const world = await agentWorld('test');
    const session = await world.open();
    const shown: string[] = [];
    const diff = ['-a - b', '+a + b\u0007'];
    const client = await connected(hostOf(agentSession(session), { diff: () => diff }), {
      era,
      person: async (message) => {
        shown.push(message);
        return YES;
      },
    });
    expect((await call(client, 'bash-test')).isError).toBe(false);
    const hop = await call(client, 'hop', { to: 'deploy', exit: 'pass', reason: 'ship it' });
    expect(hop.text).toContain('"deploy"');
    expect(shown[0]).toContain('worker asks for the hop test → deploy (exit pass).');
    expect(shown[0]).toContain('fruit.result: pass');
    expect(shown[0]).toContain('context.commit-message: Add');
    expect(shown[0]).toContain('src/sum.js');
    expect(shown[0]).toContain('│ -a - b\n│ +a + b\\u{7}');
  });

  it.runIf(isDeep)('is requested twice for a hop with a mode change if both need one', async () => {
    const world = await agentWorld('test');
    const session = await world.open();
    const shown: string[] = [];
    const client = await connected(hostOf(agentSession(session)), {
      era,
      person: async (message) => {
        shown.push(message.split('\n')[0] ?? '');
        return YES;
      },
    });
    await call(client, 'bash-test');
    await call(client, 'mode', { to: 'discuss', summary: 'tested' });
    const ship = { to: 'deploy', exit: 'pass', reason: 'ship it', mode: 'execute', 'exit-criteria': 'it is out' };
    const { text, isError } = await call(client, 'hop', ship);
    expect(text).toContain('Now: in deploy, mode execute');
    expect(isError).toBe(false);
    expect(shown).toEqual([
      'worker asks for mode diagnose → execute.',
      'worker asks for the hop test → deploy (exit pass).',
    ]);
    await client.close();
    await world.verify();
  });

  it.each([
    ['declines', { action: 'decline' }, ''],
    [
      'accepts the form twice with the box unticked',
      { action: 'accept', content: { approve: false } },
      ': they accepted the form twice without setting Approve',
    ],
  ] as const)('is refused if the person %s, and nobody else is asked', async (_, answer, because) => {
    const world = await agentWorld('explore');
    const asked: string[] = [];
    const session = await world.open({ approver: leaving(asked) });
    const client = await connected(hostOf(agentSession(session)), { era, person: async () => answer });
    const { text, isError } = await call(client, 'mode', EXECUTE);
    expect(isError).toBe(true);
    expect(text).toMatch(/approval-required.*the person who was asked declined it/);
    expect(text).toContain(`declined it${because}`);
    expect(asked).toEqual([]);
    expect(session.state.mode).toBe('diagnose');
  });

  it('is requested again, with the explanation, if the person accepts the form without the tick', async () => {
    const world = await agentWorld('explore');
    const session = await world.open({ approver: leaving([]) });
    const shown: string[] = [];
    const client = await connected(hostOf(agentSession(session)), {
      era,
      person: async (message) => {
        shown.push(message);
        return shown.length === 1 ? { action: 'accept', content: { approve: false } } : YES;
      },
    });
    expect((await call(client, 'mode', EXECUTE)).isError).toBe(false);
    expect(shown).toHaveLength(2);
    expect(shown[0]).not.toContain('You accepted but did not set Approve');
    expect(shown[1]).toMatch(/^You accepted but did not set Approve, so nothing is approved yet\./);
    expect(session.state.mode).toBe('execute');
  });

  it.runIf(isDeep)(
    'becomes a grant by the limits that the person writes, and is requested again if they cannot be read',
    async () => {
      const world = await agentWorld('explore');
      const session = await world.open({ approver: leaving([]) });
      const shown: string[] = [];
      const grantIn = (text: string) =>
        text === '2x' ? { until: Date.now() + 60_000, uses: 2 } : { problem: `"${text}" is not a limit` };
      const client = await connected(hostOf(agentSession(session), { grantIn }), {
        era,
        person: async (message) => {
          shown.push(message);
          const grant = shown.length === 1 ? 'forever' : ' 2x ';
          return { action: 'accept', content: { approve: true, grant } };
        },
      });
      expect((await call(client, 'mode', EXECUTE)).isError).toBe(false);
      expect(shown[1]).toMatch(/^Nothing is approved yet: "forever" is not a limit\./);
      const again = async () => {
        await call(client, 'mode', { to: 'discuss', summary: 'done' });
        await call(client, 'mode', { to: 'diagnose' });
        return (await call(client, 'mode', EXECUTE)).isError;
      };
      expect(await again()).toBe(false);
      expect(shown).toHaveLength(2);
      expect((await approvals(session)).map(({ via }) => via)).toEqual(['approver', 'grant']);
      await client.close();
      await world.verify();
    },
  );

  it.runIf(isDeep)(
    'is requested with the length and location of the text first if a form may cut the text off',
    async () => {
      const world = await agentWorld('test');
      const session = await world.open();
      const [shown, answered]: [string[], string[]] = [[], []];
      const diff = ['diff --git a/src/sum.js b/src/sum.js', '-a - b', '+a + b', 'diff --git a/x b/new.js', '+x'];
      const options = {
        diff: () => diff,
        readBy: () => 'hopgate approve k7m2xq',
        answered: (hash: string) => void answered.push(hash),
      };
      const client = await connected(hostOf(agentSession(session), options), {
        era,
        person: async (message) => {
          shown.push(message);
          return YES;
        },
      });
      await call(client, 'bash-test');
      await call(client, 'hop', { to: 'deploy', exit: 'pass', reason: 'ship it' });
      const [first, second, ...rest] = shown[0]?.split('\n') ?? [];
      expect(first).toBe('worker asks for the hop test → deploy (exit pass).');
      expect(second).toBe(
        `${rest.length} more lines, 2 changed files (src/sum.js, new.js); read all: hopgate approve k7m2xq`,
      );
      expect(answered).toEqual([(await approvals(session)).at(-1)?.requestHash]);
    },
  );

  it('is left to the operator if the person closes the question', async () => {
    const world = await agentWorld('explore');
    const asked: string[] = [];
    const session = await world.open({ approver: leaving(asked) });
    const client = await connected(hostOf(agentSession(session)), { era, person: async () => ({ action: 'cancel' }) });
    const { text, isError } = await call(client, 'mode', EXECUTE);
    expect(isError).toBe(true);
    expect(text).toContain('hopgate approve abc123');
    expect(asked).toHaveLength(1);
  });

  it('is left to the operator if the client cannot ask', async () => {
    const world = await agentWorld('explore');
    const session = await world.open({ approver: leaving([]) });
    const client = await connected(hostOf(agentSession(session)), { era });
    const { text, isError } = await call(client, 'mode', EXECUTE);
    expect(isError).toBe(true);
    expect(text).toContain('hopgate approve abc123');
    expect(session.state).toMatchObject({ mode: 'diagnose', denials: 1 });
  });

  it.each([
    ['pages only', { url: {} }, 0],
    ['no kind, as in older protocols', {}, 1],
  ])(
    'is requested with a form unless the client can only show pages: it declares %s',
    async (_, elicitation, times) => {
      const world = await agentWorld('explore');
      const session = await world.open({ approver: leaving([]) });
      let asked = 0;
      const client = await connected(hostOf(agentSession(session)), {
        era,
        elicitation,
        person: async () => {
          asked += 1;
          return YES;
        },
      });
      expect((await call(client, 'mode', EXECUTE)).isError).toBe(times === 0);
      expect(asked).toBe(times);
    },
  );

  it('is refused if nobody can be asked', async () => {
    const world = await agentWorld('explore');
    const client = await connected(hostOf(agentSession(await world.open())), { era });
    expect(await call(client, 'mode', EXECUTE)).toMatchObject({
      isError: true,
      text: expect.stringContaining('no approver is available'),
    });
  });

  it('is not requested at the client if the configuration names only the operator', async () => {
    const world = await agentWorld('explore');
    const session = await world.open({ approver: leaving([]) });
    const client = await connected(hostOf(agentSession(session), { elicit: false }), {
      era,
      person: () => Promise.reject(new Error('asked')),
    });
    expect((await call(client, 'mode', EXECUTE)).text).toContain('hopgate approve abc123');
  });

  it('is not requested if it was already answered', async () => {
    const world = await agentWorld('explore');
    const session = await world.open({ approver: () => 'the operator' });
    const client = await connected(
      hostOf(agentSession(session), { answeredAhead: ({ action }) => action.to === 'execute' }),
      {
        era,
        person: () => Promise.reject(new Error('asked')),
      },
    );
    expect((await call(client, 'mode', EXECUTE)).isError).toBe(false);
    expect(await approvals(session)).toMatchObject([{ by: 'the operator' }]);
  });

  it.runIf(isDeep)('is requested again if the content has changed meanwhile', async () => {
    const world = await agentWorld('test');
    const session = await world.open();
    const shown: string[] = [];
    const changeMore = async () => {
      await session.hop({ to: 'edit', exit: 'hop-edit', reason: 'one thing more' });
      await session.step({ tool: 'write', args: { path: 'src/more.js', content: '1;\n' } });
      await session.hop({ to: 'test', exit: 'hop-test', reason: 'done', fruit: { 'commit-message': 'Add' } });
      await session.step({ tool: 'bash-test', args: {} });
    };
    const client = await connected(hostOf(agentSession(session)), {
      era,
      person: async (message) => {
        if (shown.push(message) === 1) await changeMore();
        return YES;
      },
    });
    await call(client, 'bash-test');
    const { text } = await call(client, 'hop', { to: 'deploy', exit: 'pass', reason: 'ship it' });
    expect(text).toContain('"deploy"');
    expect(shown).toHaveLength(2);
    expect(shown[0]).not.toContain('src/more.js');
    expect(shown[1]).toContain('src/more.js');
    expect(shown[1]).toContain('The request has changed since you were asked.');
    const records = await approvals(session);
    expect(shown[1]).toContain(records.at(-1)?.requestHash ?? 'none');
  });
});

describe('an answer to an approval request', () => {
  /** A client whose questions the test answers one by one. */
  async function byHand() {
    const world = await agentWorld('explore');
    const session = await world.open();
    const client = await connected(hostOf(agentSession(session)), { era: 'auto', person: async () => YES });
    const raw = (args: object, more: object = {}) =>
      client.request(
        { method: 'tools/call', params: { name: 'mode', arguments: { ...args }, ...more } },
        { allowInputRequired: true },
      ) as Promise<{ resultType?: string; requestState?: string; content?: { text: string }[]; isError?: boolean }>;
    return { session, raw };
  }
  const accepted = { approval: { action: 'accept', content: { approve: true } } };

  it('is valid once', async () => {
    const { session, raw } = await byHand();
    const { requestState } = await raw(EXECUTE);
    const given = { requestState, inputResponses: accepted };
    expect((await raw(EXECUTE, given)).isError).toBeUndefined();
    expect(session.state.mode).toBe('execute');
    await session.setMode({ to: 'discuss', summary: 'done' });
    await session.setMode({ to: 'diagnose' });
    expect(await raw(EXECUTE, given)).toMatchObject({ resultType: 'input_required' });
    expect(session.state.mode).toBe('diagnose');
  });

  it('is valid only for its own call', async () => {
    const { session, raw } = await byHand();
    const { requestState } = await raw({ ...EXECUTE, reason: 'something harmless' });
    expect(await raw(EXECUTE, { requestState, inputResponses: accepted })).toMatchObject({
      resultType: 'input_required',
    });
    expect(session.state.mode).toBe('diagnose');
  });

  it('of “no” to one call does not refuse another call', async () => {
    const { raw } = await byHand();
    const { requestState } = await raw({ ...EXECUTE, reason: 'something else' });
    const inputResponses = { approval: { action: 'decline' } };
    expect(await raw(EXECUTE, { requestState, inputResponses })).toMatchObject({ resultType: 'input_required' });
  });

  it('to a question that was never asked is ignored', async () => {
    const { session, raw } = await byHand();
    for (const requestState of ['', 'made-up', undefined])
      expect(await raw(EXECUTE, { requestState, inputResponses: accepted })).toMatchObject({
        resultType: 'input_required',
      });
    expect(session.state.mode).toBe('diagnose');
  });

  it('of an unexpected kind is ignored', async () => {
    const { session, raw } = await byHand();
    const { requestState } = await raw(EXECUTE);
    const inputResponses = { approval: { roots: [] } };
    expect(await raw(EXECUTE, { requestState, inputResponses })).toMatchObject({ resultType: 'input_required' });
    expect(session.state.mode).toBe('diagnose');
  });
});

it('shown text cannot imitate hopgate’s own lines', () => {
  const hostile = 'x\nsha256 0\r\u001b[2J\u2066\u200b';
  const text = renderApprovalQuestion(
    {
      sessionId: 's',
      agent: hostile,
      action: { kind: 'hop', from: 'test', exit: hostile, to: 'deploy' },
      reason: hostile,
      view: { [hostile]: hostile, nested: { [hostile]: hostile, list: [hostile] } },
      hash: 'abc',
    },
    { diff: hostile.split('\n') },
  );
  expect(text).not.toMatch(/[\r\u001b\u2066\u200b]/);
  expect(text.split('\n').filter((line) => line.startsWith('sha256'))).toEqual(['sha256 abc']);
});
