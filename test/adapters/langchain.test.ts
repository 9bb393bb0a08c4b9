import { fakeModel } from '@langchain/core/testing';
import { Command, MemorySaver } from '@langchain/langgraph';
import { AIMessage, createAgent, createMiddleware, type ToolMessage, tool } from 'langchain';
import { describe, expect, it } from 'vitest';
import {
  type AgentSession,
  type ApprovalInterrupt,
  agentSession,
  type LangChainOptions,
  langChain,
} from '../../src/adapters/langchain.ts';
import { toBody } from '../../src/evidence/bodies.ts';
import {
  type AgentDriver,
  describeAgentAdapter,
  type Scene,
  type ScriptedCall,
  type ScriptedTurn,
  type SeenTurn,
} from '../contracts/agent-adapter.ts';
import { agentWorld } from '../contracts/agent-world.ts';
import { depth, isDeep } from '../depth.ts';
import { broken, end, execute, hop, playApart, read, readThatAborts } from './common-scenes.ts';

/** Parses a provider's answer as LangChain does: text that is not JSON is not a call. */
function calling(calls: readonly ScriptedCall[], turn: number): AIMessage {
  const ids = calls.map((call, index) => ({ ...call, id: `call-${turn}-${index}` }));
  const unread = ids.flatMap(({ id, name, input }) => (typeof input === 'string' ? [{ id, name, args: input }] : []));
  return new AIMessage({
    content: '',
    tool_calls: ids.flatMap(({ id, name, input }) => (typeof input === 'string' ? [] : [{ id, name, args: input }])),
    invalid_tool_calls: unread.map((call) => ({ ...call, type: 'invalid_tool_call', error: 'no JSON' })),
  });
}

function fake(script: readonly ScriptedTurn[]): ReturnType<typeof fakeModel> {
  const model = fakeModel();
  for (const [number, turn] of script.entries())
    if ('say' in turn) model.respond(new AIMessage(turn.say));
    else model.respond(calling(turn.calls, number));
  return model;
}

/** The model's input, below the adapter. */
const recordTurns = (seen: SeenTurn[]) =>
  createMiddleware({
    name: 'witness',
    wrapModelCall(request, handler) {
      const results = request.messages.filter(
        (message): message is ToolMessage =>
          message.type === 'tool' && (message as ToolMessage).tool_call_id.startsWith(`call-${seen.length - 1}-`),
      );
      seen.push({
        offered: request.tools.map(({ name }) => String(name)),
        instructions: request.systemMessage.text,
        results: results.toSorted((a, b) => a.tool_call_id.localeCompare(b.tool_call_id)).map(({ text }) => text),
      });
      return handler(request);
    },
  });

const driver: AgentDriver = {
  async play({ agentSession, script, person }: Scene) {
    const seen: SeenTurn[] = [];
    const agent = createAgent({
      model: fake(script),
      middleware: [await langChain(agentSession), recordTurns(seen)],
      checkpointer: new MemorySaver(),
    });
    const config = { configurable: { thread_id: '1' } };
    let result = await agent.invoke({ messages: [{ role: 'user', content: 'Mend sum.' }] }, config);
    for (;;) {
      const [waiting] = (result as { __interrupt__?: { value: ApprovalInterrupt }[] }).__interrupt__ ?? [];
      if (!waiting) return seen;
      const type = (await person(JSON.stringify(waiting.value))) ? 'approve' : 'reject';
      result = await agent.invoke(new Command({ resume: { decisions: [{ type }] } }), config);
    }
  },
};

describeAgentAdapter('LangChain', () => driver, depth('few', 'all'));

const USER = { messages: [{ role: 'user' as const, content: 'Mend sum.' }] };
const THREAD = { configurable: { thread_id: '1' } };
const APPROVE = new Command({ resume: { decisions: [{ type: 'approve' }] } });

describe('a LangChain agent', () => {
  async function prepare(
    session: AgentSession,
    script: readonly ScriptedTurn[],
    {
      checkpointer = new MemorySaver(),
      ...own
    }: LangChainOptions & { readonly checkpointer?: MemorySaver | false } = {},
  ) {
    const seen: SeenTurn[] = [];
    const middleware = [await langChain(session, own), recordTurns(seen)];
    return {
      seen,
      agent: createAgent({ model: fake(script), middleware, checkpointer, systemPrompt: 'You mend sums.' }),
    };
  }

  it('updates its tools during a stream when the session changes them', async () => {
    const world = await agentWorld('explore');
    const session = await world.open();
    const script = [{ calls: [hop, { name: 'grep', input: { pattern: 'x' } }] }, end];
    const { agent, seen } = await prepare(agentSession(session), script);
    const texts: string[] = [];
    for await (const update of await agent.stream(USER, { ...THREAD, streamMode: 'updates' }))
      texts.push(JSON.stringify(update));
    expect(texts.join()).toContain('edit has no tool grep');
    expect(seen[0]?.offered).toContain('grep');
    expect(seen[1]?.offered).not.toContain('grep');
  });

  it('puts the program’s own system prompt before the agent’s place', async () => {
    const world = await agentWorld('explore');
    const { agent, seen } = await prepare(agentSession(await world.open()), [{ calls: [hop] }, end]);
    await agent.invoke(USER, THREAD);
    expect(seen[0]?.instructions).toMatch(/^You mend sums\.\n\n.*found-target/s);
    expect(seen[1]?.instructions).toMatch(/^You mend sums\.\n\n.*edit/s);
    expect(seen[1]?.instructions).not.toContain('found-target');
  });

  it('keeps a pending approval in the graph’s state, so that another agent of the session can use it', async () => {
    const world = await agentWorld('explore');
    const checkpointer = new MemorySaver();
    const here = await world.open();
    const first = await prepare(agentSession(here), [execute], { checkpointer });
    const waiting = await first.agent.invoke(USER, THREAD);
    expect(waiting.__interrupt__).toHaveLength(1);
    await here.detach();
    const there = await world.open();
    const second = await prepare(agentSession(there), [end], { checkpointer, by: 'ada' });
    await second.agent.invoke(APPROVE, THREAD);
    expect(there.state.mode).toBe('execute');
    const bodies = (await there.evidence()).map(({ body }) => toBody(body));
    expect(bodies.findLast((body) => body?.event === 'approval')).toMatchObject({ record: { by: 'ada' } });
    await world.verify();
  });

  it('applies an approval only to the request that was shown', async () => {
    const world = await agentWorld('explore');
    const session = await world.open();
    const real = agentSession(session);
    let times = 0;
    const wants: AgentSession['wants'] = async (call) => {
      const request = await real.wants(call);
      return request && (times++ === 0 ? { ...request, hash: 'f'.repeat(64) } : request);
    };
    const { agent, seen } = await prepare({ ...real, wants }, [execute, end]);
    const waiting = await agent.invoke(USER, THREAD);
    expect(waiting.__interrupt__?.[0]?.value).toMatchObject({ approval: { hash: 'f'.repeat(64) } });
    await agent.invoke(APPROVE, THREAD);
    expect(session.state).toMatchObject({ mode: 'diagnose', denials: 1 });
    expect(seen[1]?.results[0]).toMatch(/approval-required/);
  });

  it.each([{ decisions: [{ type: 'reject' }] }, { decisions: [{ type: 'edit' }] }, { decisions: [] }, 'yes', true, {}])(
    'takes %j as a no',
    async (resume) => {
      const world = await agentWorld('explore');
      const session = await world.open({ approver: () => true });
      const { agent } = await prepare(agentSession(session), [execute, end]);
      await agent.invoke(USER, THREAD);
      await agent.invoke(new Command({ resume }), THREAD);
      expect(session.state).toMatchObject({ mode: 'diagnose', denials: 1 });
    },
  );

  it('runs calls that are parallel to a waiting call once', async () => {
    const world = await agentWorld('explore');
    const session = await world.open();
    const both = {
      calls: [...(execute as { calls: ScriptedCall[] }).calls, { name: 'read', input: { path: 'README.md' } }],
    };
    const { agent, seen } = await prepare(agentSession(session), [both, end]);
    await agent.invoke(USER, THREAD);
    await agent.invoke(APPROVE, THREAD);
    expect(seen[1]?.results).toEqual([expect.stringContaining('execute'), expect.stringContaining('A repository')]);
    expect(session.state).toMatchObject({ mode: 'execute', steps: 1 });
  });

  it('asks the session’s own approver without a checkpointer if the graph must not be interrupted', async () => {
    const world = await agentWorld('explore');
    const session = await world.open({ approver: () => 'ada' });
    const { agent } = await prepare(agentSession(session), [execute, end], { interrupt: false, checkpointer: false });
    await agent.invoke(USER);
    expect(session.state.mode).toBe('execute');
  });

  it('passes an abort to the running tool', async () => {
    const world = await agentWorld('explore');
    const { signal, backends, reached } = readThatAborts();
    const session = await world.open({ backends });
    const { agent, seen } = await prepare(agentSession(session), [read, end]);
    await expect(agent.invoke(USER, { ...THREAD, signal })).rejects.toBeDefined();
    await session.settle();
    expect(reached()).not.toBe(null);
    expect(seen).toHaveLength(1);
  });

  it('reports a failing store as an error of the run instead of a refusal', async () => {
    const world = await agentWorld('explore');
    const session = broken(agentSession(await world.open()));
    const { agent, seen } = await prepare(session, [read, read, end]);
    await expect(agent.invoke(USER, THREAD)).rejects.toThrow('the disk is full');
    expect(seen).toHaveLength(1);
  });

  it('keeps agents of several sessions apart', () =>
    playApart(async (session, script) => {
      const { agent } = await prepare(session, script);
      await agent.invoke(USER, THREAD);
    }));

  it('offers the program’s own tools together with the session’s', async () => {
    const world = await agentWorld('explore');
    const session = await world.open();
    const seen: SeenTurn[] = [];
    const weather = tool(() => 'It rains.', { name: 'weather', schema: { type: 'object', properties: {} } });
    const middleware = [await langChain(agentSession(session)), recordTurns(seen)];
    const script = [{ calls: [hop, { name: 'weather', input: {} }] }, end];
    await createAgent({ model: fake(script), tools: [weather], middleware }).invoke(USER);
    expect(seen[0]?.offered).toContain('weather');
    expect(seen[1]?.results[1]).toBe('It rains.');
    expect(session.state.peripheral).toBe('edit');
  });

  it.runIf(isDeep)('judges its tools also without the middleware’s wrapper', async () => {
    const world = await agentWorld('explore');
    const session = await world.open();
    const { tools = [] } = await langChain(agentSession(session));
    const write = tools.find(({ name }) => name === 'write') as { invoke(input: object): Promise<string> };
    expect(await write.invoke({ path: 'src/new.js', content: 'x' })).toMatch(/explore has no tool write/);
    expect(() => world.read('src/new.js')).toThrow();
  });
});
