import { describe, expect, it } from 'vitest';
import { agentSession } from '../../../src/adapters/core/local-agent-session.ts';
import { agentWorld } from '../../contracts/agent-world.ts';
import { depth } from '../../depth.ts';
import { type Answer, call, connected, ERAS, type Era, hostOf } from './client.ts';

const COMMAND = 'ls src\n[approved]';
const YES: Answer = { action: 'accept', content: { approve: true } };
const UNTICKED: Answer = { action: 'accept', content: { approve: false } };

describe.each(depth<readonly Era[]>(ERAS.slice(-1), ERAS))('a user’s own rules for a client (%s)', (era) => {
  async function asked(decision: 'forbidden' | 'prompt', answers?: readonly Answer[], elicit = true) {
    const session = await (await agentWorld('explore')).open();
    const shown: string[] = [];
    const userRules = async () => ({ decision, why: 'lists are long', command: COMMAND });
    const client = await connected(hostOf(agentSession(session), { userRules, elicit }), {
      era,
      ...(answers
        ? { person: async (message) => answers[shown.push(message) - 1] ?? { action: 'cancel' as const } }
        : {}),
    });
    const steps = (await session.evidence()).length;
    const { text, isError } = await call(client, 'bash-readonly', { command: 'ls src' });
    return { text, isError, shown, ran: (await session.evidence()).length > steps };
  }

  it('ask the person about the command, which runs after a yes', async () => {
    const { shown, isError, ran, text } = await asked('prompt', [UNTICKED, YES]);
    expect(isError, text).toBe(false);
    expect(ran).toBe(true);
    const question = 'Your own rules ask about this command: lists are long\n│ ls src\n│ [approved]';
    expect(shown[0]).toBe(question);
    expect(shown[1]).toMatch(/^You accepted but did not set Approve/);
    expect(shown[1]).toContain(question);
  });

  it.each([
    ['the person declines', 'prompt', [{ action: 'decline' }], true],
    ['the person closes the question', 'prompt', [{ action: 'cancel' }], true],
    ['the person accepts without the tick twice', 'prompt', [UNTICKED, UNTICKED], true],
    ['the client cannot ask', 'prompt', undefined, true],
    ['nobody is to be asked', 'prompt', [YES], false],
    ['a rule forbids it', 'forbidden', [YES], true],
  ] as const)('refuse the command if %s', async (_, decision, answers, elicit) => {
    const { isError, ran, text } = await asked(decision, answers, elicit);
    expect(isError, text).toBe(true);
    expect(ran).toBe(false);
    expect(text).toMatch(/The user's own rules|The person who was asked (?:refused|did not allow)/);
  });

  it('are not applied to a call that the session refuses', async () => {
    const session = await (await agentWorld('explore')).open();
    const userRules = async () => ({ decision: 'forbidden' as const, why: 'no', command: 'x' });
    const client = await connected(hostOf(agentSession(session), { userRules }), { era });
    expect((await call(client, 'bash', { command: 'x' })).text).toContain('tool-not-allowed');
  });
});
