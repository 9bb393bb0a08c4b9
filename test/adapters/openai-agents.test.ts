import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { Agent, RunState, run, setTracingDisabled } from '@openai/agents';
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents/testing';
import { describe, expect, it } from 'vitest';
import {
  type AgentSession,
  agentSession,
  type OpenAiAgentsOptions,
  openAiAgents,
} from '../../src/adapters/openai-agents.ts';
import { toBody } from '../../src/evidence/bodies.ts';
import {
  type AgentDriver,
  describeAgentAdapter,
  type Scene,
  type ScriptedTurn,
  type SeenTurn,
} from '../contracts/agent-adapter.ts';
import { agentWorld } from '../contracts/agent-world.ts';
import { depth, isDeep } from '../depth.ts';
import { broken, end, execute, hop, playApart, read, readThatAborts } from './common-scenes.ts';

setTracingDisabled(true);

const scripted = (script: readonly ScriptedTurn[]): ScriptedModel =>
  new ScriptedModel(
    script.map((turn, number) =>
      'say' in turn
        ? [assistantMessage(turn.say)]
        : turn.calls.map(({ name, input }, index) => functionCall(name, input, { callId: `call-${number}-${index}` })),
    ),
  );

const seenBy = ({ calls }: ScriptedModel): readonly SeenTurn[] =>
  calls.map(({ request: { tools, input, systemInstructions } }, turn) => {
    const results = (typeof input === 'string' ? [] : input).flatMap((item) =>
      item.type === 'function_call_result' && item.callId.startsWith(`call-${turn - 1}-`) ? [item] : [],
    );
    return {
      offered: tools.map((tool) => ('name' in tool ? tool.name : '')),
      instructions: systemInstructions ?? '',
      results: results
        .toSorted((a, b) => a.callId.localeCompare(b.callId))
        .map(({ output }) => (typeof output === 'string' ? output : (output as { text: string }).text)),
    };
  });

const driver: AgentDriver = {
  lacks: { malformedArguments: 'the SDK parses the arguments itself and answers what is not JSON' },
  async play({ agentSession, script, person }: Scene) {
    const model = scripted(script);
    const hopgate = await openAiAgents(agentSession);
    const { tools, instructions } = hopgate;
    const agent = new Agent({ name: 'worker', model, tools, instructions });
    let result = await run(agent, 'Mend sum.', hopgate.options);
    while (result.interruptions.length > 0) {
      for (const interruption of result.interruptions)
        if (await person(JSON.stringify(await hopgate.wanted(interruption)))) result.state.approve(interruption);
        else result.state.reject(interruption);
      result = await run(agent, result.state, hopgate.options);
    }
    return seenBy(model);
  },
};

describeAgentAdapter('OpenAI Agents', () => driver, depth('few', 'all'));

describe('an agent of the OpenAI Agents SDK', () => {
  async function prepare(session: AgentSession, script: readonly ScriptedTurn[], own?: OpenAiAgentsOptions) {
    const model = scripted(script);
    const hopgate = await openAiAgents(session, own);
    const { tools, instructions } = hopgate;
    return { model, ...hopgate, agent: new Agent({ name: 'worker', model, tools, instructions }) };
  }

  it('updates its tools during a stream when the session changes them', async () => {
    const world = await agentWorld('explore');
    const session = await world.open();
    const { agent, options, model } = await prepare(agentSession(session), [
      { calls: [hop, { name: 'grep', input: { pattern: 'x' } }] },
      end,
    ]);
    const result = await run(agent, 'Mend sum.', { ...options, stream: true });
    await result.completed;
    expect(result.finalOutput).toBe('Done.');
    const [before, after] = seenBy(model);
    expect(before?.offered).toContain('grep');
    expect(after?.offered).not.toContain('grep');
    expect(after?.results[1]).toMatch(/edit has no tool grep/);
  });

  it.runIf(isDeep).each(['look', 'blind'])('continues a run that another process approved (%s)', async (look) => {
    const world = await agentWorld('explore');
    const session = await world.open();
    const { agent, options } = await prepare(agentSession(session), [execute]);
    const { state, interruptions } = await run(agent, 'Mend sum.', options);
    expect(interruptions).toHaveLength(1);
    await session.detach();
    const program = 'test/adapters/programs/resume-openai-run.ts';
    const args = [program, world.root, join(world.root, '../evidence.db'), world.id, look];
    const output = execFileSync(process.execPath, args, { input: state.toString(), encoding: 'utf8' });
    expect(output).toBe(look === 'look' ? 'execute\nDone. execute\n' : 'Done. execute\n');
    const again = await world.open();
    const bodies = (await again.evidence()).map(({ body }) => toBody(body));
    expect(bodies.findLast((body) => body?.event === 'approval')).toMatchObject({ record: { by: 'ada' } });
    await world.verify();
  });

  it('applies an approval only to the request that was shown', async () => {
    const world = await agentWorld('explore');
    const session = await world.open();
    const real = agentSession(session);
    const wants: AgentSession['wants'] = async (call) => {
      const request = await real.wants(call);
      return request && { ...request, hash: 'f'.repeat(64) };
    };
    const { agent, options, model } = await prepare({ ...real, wants }, [execute, end]);
    const { state, interruptions } = await run(agent, 'Mend sum.', options);
    for (const interruption of interruptions) state.approve(interruption);
    await run(agent, state, options);
    expect(session.state).toMatchObject({ mode: 'diagnose', denials: 1 });
    expect(seenBy(model)[1]?.results[0]).toMatch(/approval-required/);
  });

  it('uses an approval once, even if a provider repeats the id of a call', async () => {
    const world = await agentWorld('explore');
    const session = await world.open();
    const mode = (callId: string, input: object) => [functionCall('mode', { reason: 'x', ...input }, { callId })];
    const { agent, options, model } = await prepare(agentSession(session), []);
    model.enqueue(
      mode('same', { to: 'execute' }),
      mode('b', { to: 'discuss', summary: 'nothing' }),
      mode('c', { to: 'diagnose' }),
      mode('same', { to: 'execute' }),
      [assistantMessage('Done.')],
    );
    let result = await run(agent, 'Mend sum.', options);
    for (const interruption of result.interruptions) result.state.approve(interruption);
    result = await run(agent, result.state, options).catch(() => result); // otherwise the SDK itself rejects it
    expect(session.state.mode).toBe('diagnose');
  });

  it('records a rejection', async () => {
    const world = await agentWorld('explore');
    const session = await world.open({ approver: () => true });
    const { agent, options, model } = await prepare(agentSession(session), [execute, end]);
    const { state, interruptions } = await run(agent, 'Mend sum.', options);
    for (const interruption of interruptions) state.reject(interruption);
    await run(agent, state, options);
    expect(session.state).toMatchObject({ mode: 'diagnose', denials: 1 });
    expect(seenBy(model)[1]?.results[0]).toMatch(/approval-required/);
    await session.detach();
    await world.verify();
  });

  it('asks the session’s own approver if the run must not be interrupted', async () => {
    const world = await agentWorld('explore');
    const session = await world.open({ approver: () => 'ada' });
    const { agent, options } = await prepare(agentSession(session), [execute, end], { interrupt: false });
    expect((await run(agent, 'Mend sum.', options)).finalOutput).toBe('Done.');
    expect(session.state.mode).toBe('execute');
  });

  it.runIf(isDeep)(
    'does not run a tool that became available in the same turn, because the model did not know its arguments',
    async () => {
      const world = await agentWorld('explore');
      const session = await world.open();
      const tests = { name: 'bash-test', input: {} };
      const { agent, options, model } = await prepare(agentSession(session), [
        { calls: [{ name: 'hop', input: { to: 'edit', exit: 'found-target', reason: 'found' } }] },
        { calls: [{ name: 'hop', input: { to: 'test', exit: 'hop-test', reason: 'to see it' } }, tests] },
        { calls: [tests] },
        end,
      ]);
      await run(agent, 'Mend sum.', options);
      expect(session.state.peripheral).toBe('test');
      const [, , third, last] = seenBy(model);
      expect(third?.results[1]).toMatch(/bash-test was not available.*Repeat this call/);
      expect(last?.results[0]).toMatch(/fail/);
      expect(session.state.denials, 'the session refused nothing').toBe(0);
    },
  );

  it('records a rejection with the person’s reason', async () => {
    const world = await agentWorld('explore');
    const session = await world.open();
    const { agent, options, model } = await prepare(agentSession(session), [execute, read, end]);
    const { state, interruptions } = await run(agent, 'Mend sum.', options);
    for (const interruption of interruptions) state.reject(interruption, { message: 'not before noon' });
    await run(agent, state, options);
    expect(session.state).toMatchObject({ mode: 'diagnose', denials: 1 });
    expect(seenBy(model)[1]?.results[0]).toBe('not before noon');
  });

  it('records a rejection in another process if the person saw the request', async () => {
    const world = await agentWorld('explore');
    const here = await world.open();
    const first = await prepare(agentSession(here), [execute]);
    const text = (await run(first.agent, 'Mend sum.', first.options)).state.toString();
    await here.detach();
    const there = await world.open();
    const { agent, options, wanted, model } = await prepare(agentSession(there), [end]);
    const state = await RunState.fromString<undefined, typeof agent>(agent, text);
    for (const interruption of state.getInterruptions()) {
      expect(await wanted(interruption)).toMatchObject({ action: { to: 'execute' } });
      state.reject(interruption);
    }
    await run(agent, state, options);
    expect(there.state).toMatchObject({ mode: 'diagnose', denials: 1 });
    expect(seenBy(model)[0]?.instructions).toContain('explore');
  });

  it.each(['{"to": ', 'null', '[]'])('refuses a move with %s even if a person approves it', async (text) => {
    const world = await agentWorld('explore');
    const session = await world.open();
    const { agent, options, wanted, model } = await prepare(agentSession(session), []);
    const call = (callId: string) => ({ ...functionCall('mode', {}, { callId }), arguments: text });
    model.enqueue([call('a')], [call('b')], [assistantMessage('Done.')]);
    let result = await run(agent, 'Mend sum.', options);
    for (const verb of ['approve', 'reject'] as const) {
      for (const interruption of result.interruptions) {
        expect(await wanted(interruption)).toBe(null);
        result.state[verb](interruption);
      }
      result = await run(agent, result.state, options);
    }
    expect(result.finalOutput).toBe('Done.');
    expect(session.state.mode).toBe('diagnose');
  });

  it('answers calls after a handoff by the session of the calling agent', async () => {
    const [world, other] = [await agentWorld('explore'), await agentWorld('edit')];
    const [from, to] = [await world.open(), await other.open()];
    const grep: ScriptedTurn = { calls: [{ name: 'grep', input: { pattern: 'x' } }] };
    const receiver = await prepare(agentSession(to), [grep, end]);
    const { model, tools, instructions, options } = await prepare(agentSession(from), []);
    model.enqueue([functionCall('transfer_to_worker', {}, { callId: 'handoff' })]);
    const agent = Agent.create({ name: 'finder', model, tools, instructions, handoffs: [receiver.agent] });
    expect((await run(agent, 'Mend sum.', options)).finalOutput).toBe('Done.');
    expect(seenBy(receiver.model)[1]?.results[0]).toMatch(/edit has no tool grep/);
    expect([from.state.denials, to.state.denials]).toEqual([0, 1]);
  });

  it('lets the SDK answer calls of tools that the program omits', async () => {
    const world = await agentWorld('explore');
    const session = await world.open();
    const { tools, instructions, options, model } = await prepare(agentSession(session), [read, end]);
    const agent = new Agent({
      name: 'worker',
      model,
      instructions,
      tools: tools.filter(({ name }) => name !== 'read'),
    });
    await run(agent, 'Mend sum.', options);
    expect(seenBy(model)[1]?.results[0]).toMatch(/read.*not found/i);
    expect(session.state).toMatchObject({ denials: 0, steps: 0 });
  });

  it('ends the run at a call of an unavailable tool if the options are not used; the tool does not run', async () => {
    const world = await agentWorld('explore');
    const session = await world.open();
    const write: ScriptedTurn = { calls: [{ name: 'write', input: { path: 'src/new.js', content: 'x' } }] };
    const { agent } = await prepare(agentSession(session), [write, end]);
    await expect(run(agent, 'Mend sum.')).rejects.toThrow('write');
    expect(() => world.read('src/new.js')).toThrow();
  });

  it('lets the session refuse invalid arguments', async () => {
    const world = await agentWorld('explore');
    const session = await world.open();
    const { agent, options, model } = await prepare(agentSession(session), [
      { calls: [{ name: 'read', input: { file: 'README.md' } }] },
      { calls: [{ name: 'hop', input: { hop: 'discipline', reason: 'the short form' } }] },
      end,
    ]);
    await run(agent, 'Mend sum.', options);
    expect(seenBy(model)[1]?.results[0]).toMatch(/invalid-action/);
    expect(session.state).toMatchObject({ denials: 1, peripheral: 'discipline' });
  });

  it('passes an abort to the running tool', async () => {
    const world = await agentWorld('explore');
    const { signal, backends, reached } = readThatAborts();
    const session = await world.open({ backends });
    const { agent, options, model } = await prepare(agentSession(session), [read, end]);
    await run(agent, 'Mend sum.', { ...options, signal }).catch(() => {});
    await session.settle();
    expect(reached()).not.toBe(null);
    expect(model.calls).toHaveLength(1);
  });

  it.each([
    ['of an open tool', read],
    ['of one that is not open', { calls: [{ name: 'write', input: {} }] }],
  ])('reports a failing store at the call %s as an error of the run instead of a refusal', async (_, turn) => {
    const world = await agentWorld('explore');
    const session = broken(agentSession(await world.open()));
    const { agent, options, model } = await prepare(session, [turn, turn, end]);
    await expect(run(agent, 'Mend sum.', options)).rejects.toThrow('the disk is full');
    expect(model.calls).toHaveLength(1);
  });

  it('keeps agents of several sessions apart', () =>
    playApart(async (session, script) => {
      const { agent, options } = await prepare(session, script);
      await run(agent, 'Mend sum.', options);
    }));
});
