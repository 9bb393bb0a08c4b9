import { setImmediate } from 'node:timers/promises';
import {
  generateText,
  type Instructions,
  isStepCount,
  jsonSchema,
  type ModelMessage,
  streamText,
  ToolLoopAgent,
  tool,
} from 'ai';
import { convertArrayToReadableStream, MockLanguageModelV4 } from 'ai/test';
import { describe, expect, it } from 'vitest';
import { type AgentSession, agentSession, aiSdk } from '../../src/adapters/ai-sdk.ts';
import { toBody } from '../../src/evidence/bodies.ts';
import { type AgentDriver, describeAgentAdapter, type Scene, type ScriptedTurn } from '../contracts/agent-adapter.ts';
import { agentWorld } from '../contracts/agent-world.ts';
import { depth } from '../depth.ts';
import { broken, end, execute, hop, playApart, read, readThatAborts } from './common-scenes.ts';

type Calls = MockLanguageModelV4['doGenerateCalls'];
type Generated = Extract<ConstructorParameters<typeof MockLanguageModelV4>[0], object>['doGenerate'];
type Turn = Awaited<ReturnType<Extract<NonNullable<Generated>, (...args: never) => unknown>>>;

type Streamed = Awaited<ReturnType<MockLanguageModelV4['doStream']>>['stream'];
type StreamPart = Streamed extends ReadableStream<infer Part> ? Part : never;

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};

function turnOf(turn: ScriptedTurn, number: number): Turn {
  if ('say' in turn)
    return {
      content: [{ type: 'text', text: turn.say }],
      finishReason: { unified: 'stop', raw: undefined },
      usage,
      warnings: [],
    };
  return {
    content: turn.calls.map(({ name, input }, index) => ({
      type: 'tool-call',
      toolCallId: `call-${number}-${index}`,
      toolName: name,
      input: typeof input === 'string' ? input : JSON.stringify(input),
    })),
    finishReason: { unified: 'tool-calls', raw: undefined },
    usage,
    warnings: [],
  };
}

const mock = (script: readonly ScriptedTurn[]): MockLanguageModelV4 =>
  new MockLanguageModelV4({ doGenerate: script.map(turnOf) });

/** The model's input of each call. */
const seenBy = (calls: Calls) =>
  calls.map(({ tools, prompt }, turn) => {
    const results = new Map<string, string>();
    for (const { role, content } of prompt)
      if (role === 'tool')
        for (const part of content)
          if (part.type === 'tool-result') {
            const { output } = part;
            results.set(
              part.toolCallId,
              output.type === 'execution-denied'
                ? `denied: ${output.reason}`
                : String('value' in output ? output.value : ''),
            );
          }
    const ids = [...results.keys()].filter((id) => id.startsWith(`call-${turn - 1}-`)).sort();
    return {
      offered: (tools ?? []).map(({ name }) => name),
      instructions: prompt.flatMap(({ role, content }) => (role === 'system' ? [content] : [])).join('\n'),
      results: ids.map((id) => results.get(id) ?? ''),
    };
  });

const driver: AgentDriver = {
  async play({ agentSession, script, person }: Scene) {
    const model = mock(script);
    const agent = new ToolLoopAgent({ model, ...(await aiSdk(agentSession)), stopWhen: isStepCount(20) });
    const messages: ModelMessage[] = [{ role: 'user', content: 'Mend sum.' }];
    for (;;) {
      const result = await agent.generate({ messages });
      messages.push(...result.responseMessages);
      const requests = result.content.filter((part) => part.type === 'tool-approval-request');
      if (requests.length === 0) return seenBy(model.doGenerateCalls);
      const content = [];
      for (const { approvalId, reason } of requests) {
        const approved = await person(reason ?? '');
        content.push({
          type: 'tool-approval-response' as const,
          approvalId,
          approved,
          ...(approved ? {} : { reason: 'not approved' }),
        });
      }
      messages.push({ role: 'tool', content });
    }
  },
};

describeAgentAdapter('the AI SDK', () => driver, depth('few', 'all'));

const USER: ModelMessage = { role: 'user', content: 'Mend sum.' };
const many = isStepCount(20);

/** The same turns as a stream. */
const streamed = (script: readonly ScriptedTurn[]): MockLanguageModelV4 =>
  new MockLanguageModelV4({
    doStream: script.map((turn, number) => {
      const { content, finishReason } = turnOf(turn, number);
      const parts = content.flatMap((part): StreamPart[] => {
        if (part.type === 'tool-call') return [part];
        if (part.type !== 'text') return [];
        const { text: delta } = part;
        return [
          { type: 'text-start', id: 't' },
          { type: 'text-delta', id: 't', delta },
          { type: 'text-end', id: 't' },
        ];
      });
      return {
        stream: convertArrayToReadableStream<StreamPart>([
          { type: 'stream-start', warnings: [] },
          ...parts,
          { type: 'finish', finishReason, usage },
        ]),
      };
    }),
  });

describe('an AI SDK agent', () => {
  it('updates its tools during a stream when the session changes them', async () => {
    const world = await agentWorld('explore');
    const session = await world.open();
    const model = streamed([read, { calls: [hop, { name: 'grep', input: { pattern: 'x' } }] }, end]);
    const result = streamText({ model, ...(await aiSdk(agentSession(session))), messages: [USER], stopWhen: many });
    expect(await result.text).toBe('Done.');
    const [first, second, third] = seenBy(model.doStreamCalls);
    expect(first?.offered).toContain('grep');
    expect(second?.results).toEqual([expect.stringContaining('A repository')]);
    expect(third?.offered).not.toContain('grep');
    expect(third?.results).toEqual([expect.stringContaining('edit'), expect.stringMatching(/edit has no tool grep/)]);
  });

  it('asks for an approval during a stream and continues after a yes', async () => {
    const world = await agentWorld('explore');
    const session = await world.open();
    const settings = await aiSdk(agentSession(session));
    const model = streamed([execute, end]);
    const first = streamText({ model, ...settings, messages: [USER], stopWhen: many });
    const request = (await first.content).find((part) => part.type === 'tool-approval-request');
    expect(session.state.mode).toBe('diagnose');
    const { approvalId = '' } = request ?? {};
    const yes: ModelMessage = {
      role: 'tool',
      content: [{ type: 'tool-approval-response', approvalId, approved: true }],
    };
    const messages = [USER, ...(await first.responseMessages), yes];
    expect(await streamText({ model, ...settings, messages, stopWhen: many }).text).toBe('Done.');
    expect(session.state.mode).toBe('execute');
  });

  it('keeps a pending approval in the messages, so that another process can answer it', async () => {
    const world = await agentWorld('explore');
    const here = await world.open();
    const { messages, approvalId } = await asked(agentSession(here));
    await here.detach();
    const there = await world.open();
    await approve(agentSession(there), messages, approvalId, 'ada');
    expect(there.state.mode).toBe('execute');
    const given = (await there.evidence())
      .map(({ body }) => toBody(body))
      .findLast((body) => body?.event === 'approval');
    expect(given).toMatchObject({ record: { by: 'ada' } });
    await world.verify();
  });

  it('applies an approval only to the request that was shown', async () => {
    const world = await agentWorld('explore');
    const session = await world.open();
    const { messages, approvalId } = await asked(agentSession(session));
    const shown = /sha256 ([0-9a-f]{64})/.exec(messages)?.[1] ?? '';
    const other = messages.replaceAll(shown, 'f'.repeat(64));
    await approve(agentSession(session), other, approvalId);
    expect(session.state).toMatchObject({ mode: 'diagnose', denials: 1 });
  });

  async function asked(agent: AgentSession): Promise<{ messages: string; approvalId: string }> {
    const result = await generateText({
      model: mock([execute]),
      ...(await aiSdk(agent)),
      messages: [USER],
      stopWhen: many,
    });
    const request = result.content.find((part) => part.type === 'tool-approval-request');
    return { messages: JSON.stringify([USER, ...result.responseMessages]), approvalId: request?.approvalId ?? '' };
  }

  async function approve(agent: AgentSession, text: string, approvalId: string, by = 'operator'): Promise<void> {
    const yes: ModelMessage = {
      role: 'tool',
      content: [{ type: 'tool-approval-response', approvalId, approved: true }],
    };
    const messages = [...(JSON.parse(text) as ModelMessage[]), yes];
    await generateText({ model: mock([end]), ...(await aiSdk(agent, { by })), messages, stopWhen: many });
  }

  it('uses an approval once, even if a provider repeats the id of a call', async () => {
    const world = await agentWorld('explore');
    const session = await world.open();
    const discuss: ScriptedTurn = {
      calls: [{ name: 'mode', input: { to: 'discuss', summary: 'nothing', reason: 'x' } }],
    };
    const diagnose: ScriptedTurn = { calls: [{ name: 'mode', input: { to: 'diagnose', reason: 'x' } }] };
    const { messages, approvalId } = await asked(agentSession(session));
    const yes: ModelMessage = {
      role: 'tool',
      content: [{ type: 'tool-approval-response', approvalId, approved: true }],
    };
    const { toolApproval: _, ...settings } = await aiSdk(agentSession(session));
    const again = { ...turnOf(execute, 0), content: turnOf(execute, 0).content };
    const model = new MockLanguageModelV4({
      doGenerate: [turnOf(discuss, 1), turnOf(diagnose, 2), again, turnOf(end, 4)],
    });
    await generateText({
      model,
      ...settings,
      messages: [...(JSON.parse(messages) as ModelMessage[]), yes],
      stopWhen: many,
    });
    expect(session.state).toMatchObject({ mode: 'diagnose', denials: 1 });
  });

  it('records a rejection once', async () => {
    const world = await agentWorld('explore');
    const session = await world.open({ approver: () => true });
    const { messages, approvalId } = await asked(agentSession(session));
    const no: ModelMessage = {
      role: 'tool',
      content: [{ type: 'tool-approval-response', approvalId, approved: false }],
    };
    const first = [...(JSON.parse(messages) as ModelMessage[]), no];
    const settings = await aiSdk(agentSession(session));
    const { responseMessages } = await generateText({
      model: mock([read, end]),
      ...settings,
      messages: first,
      stopWhen: many,
    });
    const later = [...first, ...responseMessages, USER];
    await generateText({ model: mock([end]), ...settings, messages: later, stopWhen: many });
    expect(session.state).toMatchObject({ mode: 'diagnose', denials: 1 });
    await session.detach();
    await world.verify();
  });

  it('runs the calls of a step in order, however long one takes to start', async () => {
    const world = await agentWorld('explore');
    const session = await world.open();
    const model = mock([{ calls: [hop, { name: 'grep', input: { pattern: 'x' } }] }, end]);
    await generateText({
      model,
      ...(await aiSdk(agentSession(session))),
      messages: [USER],
      stopWhen: many,
      onToolExecutionStart: async ({ toolCall }) => {
        if (toolCall.toolName === 'hop') await setImmediate();
      },
    });
    expect(seenBy(model.doGenerateCalls)[1]?.results[1]).toMatch(/edit has no tool grep/);
  });

  it('asks the session’s own approver if toolApproval is not set', async () => {
    const world = await agentWorld('explore');
    const session = await world.open({ approver: () => 'ada' });
    const { toolApproval: _, ...settings } = await aiSdk(agentSession(session));
    await generateText({ model: mock([execute, end]), ...settings, messages: [USER], stopWhen: many });
    expect(session.state.mode).toBe('execute');
  });

  it('passes an abort to the running tool', async () => {
    const world = await agentWorld('explore');
    const { signal, backends, reached } = readThatAborts();
    const session = await world.open({ backends });
    const model = mock([read, end]);
    const settings = await aiSdk(agentSession(session));
    const run = generateText({ model, ...settings, messages: [USER], stopWhen: many, abortSignal: signal });
    await expect(run).rejects.toBeDefined();
    expect(reached()).toBe('enough');
    expect(model.doGenerateCalls).toHaveLength(1);
  });

  it('reports a failing store as an error of the run instead of a refusal', async () => {
    const world = await agentWorld('explore');
    const session = broken(agentSession(await world.open()));
    const model = mock([read, read, end]);
    const run = generateText({ model, ...(await aiSdk(session)), messages: [USER], stopWhen: many });
    await expect(run).rejects.toThrow('the disk is full');
    expect(model.doGenerateCalls).toHaveLength(1);
  });

  it('reports a failing store as an error of the run also for an invalid call', async () => {
    const world = await agentWorld('explore');
    const session = broken(agentSession(await world.open()));
    const model = mock([{ calls: [{ name: 'teleport', input: {} }] }, end]);
    const run = generateText({ model, ...(await aiSdk(session)), messages: [USER], stopWhen: many });
    await expect(run).rejects.toThrow('the disk is full');
  });

  it('does not run a tool that the program hides', async () => {
    const world = await agentWorld('edit');
    const session = await world.open();
    const fix = { name: 'edit', input: { path: 'src/sum.js', old: 'a - b', new: 'a + b' } };
    const model = mock([{ calls: [fix] }, end]);
    const settings = await aiSdk(agentSession(session));
    await generateText({ model, ...settings, activeTools: ['read'], messages: [USER], stopWhen: many });
    expect(world.read('src/sum.js')).toContain('a - b');
    expect(seenBy(model.doGenerateCalls)[1]?.results[0]).toMatch(/edit.*read/);
  });

  it('leaves invalid calls of the program’s own tools to the SDK', async () => {
    const world = await agentWorld('explore');
    const session = await world.open();
    const settings = await aiSdk(agentSession(session));
    const weather = tool({ inputSchema: jsonSchema<object>({ type: 'object' }), execute: () => 'It rains.' });
    const model = mock([{ calls: [{ name: 'weather', input: '{"city": ' }] }, end]);
    const tools = { ...settings.tools, weather };
    await generateText({ model, ...settings, tools, messages: [USER], stopWhen: many });
    expect(seenBy(model.doGenerateCalls)[1]?.results[0]).not.toMatch(/refused|unknown-tool/);
    expect(session.state.denials).toBe(0);
  });

  it('keeps agents of several sessions apart', () =>
    playApart(async (session, script) => {
      await generateText({ model: mock(script), ...(await aiSdk(session)), messages: [USER], stopWhen: many });
    }));

  it('offers the program’s own tools and instructions together with the session’s', async () => {
    const world = await agentWorld('explore');
    const session = await world.open();
    const settings = await aiSdk(agentSession(session));
    const weather = tool({ inputSchema: jsonSchema<object>({ type: 'object' }), execute: () => 'It rains.' });
    const model = mock([{ calls: [hop, { name: 'weather', input: {} }] }, end]);
    const tools = { ...settings.tools, weather };
    const own = { instructions: 'You mend sums.' };
    await generateText({ model, ...settings, tools, ...own, messages: [USER], stopWhen: many });
    const [before, after] = seenBy(model.doGenerateCalls);
    expect(before?.offered).toContain('weather');
    expect(before?.instructions).toMatch(/^You mend sums\.\n\n.*explore/s);
    expect(after?.results[1]).toBe('It rains.');
    expect(after?.instructions).toMatch(/^You mend sums\.\n\n/);
    expect(after?.instructions).not.toContain('found-target');
  });

  it('updates instructions of other shapes, too', async () => {
    const world = await agentWorld('explore');
    const session = await world.open();
    const { prepareStep, instructions } = await aiSdk(agentSession(session));
    const model = mock([end]);
    const given = async (initialInstructions: Instructions | undefined) =>
      (await prepareStep({ model, stepNumber: 0, initialMessages: [], initialInstructions })).instructions;
    await session.hop({ to: 'reflect', exit: 'hop-reflect', reason: 'enough' });
    await session.hop({ to: 'edit', exit: 'found-target', reason: 'found' });
    const now = await agentSession(session).prompt();
    expect(now).not.toBe(instructions);
    expect(await given(undefined)).toBe(now);
    expect(await given(`Before. ${instructions} After.`)).toBe(`Before. ${now} After.`);
    expect(await given({ role: 'system', content: 'Mine.' })).toEqual([
      { role: 'system', content: 'Mine.' },
      { role: 'system', content: now },
    ]);
  });
});
