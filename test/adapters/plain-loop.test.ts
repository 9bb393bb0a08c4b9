import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { agentSession } from '../../src/adapters/core/local-agent-session.ts';
import type { ChatShape } from '../../src/adapters/plain-loop.ts';
import { plainLoop } from '../../src/adapters/plain-loop.ts';
import type { Json } from '../../src/spec/types.ts';
import {
  type AgentDriver,
  describeAgentAdapter,
  type Scene,
  type ScriptedCall,
  type SeenTurn,
} from '../contracts/agent-adapter.ts';
import { depth } from '../depth.ts';
import { lead, stage } from '../session/sessions.ts';

type Fields = { readonly [key: string]: Json };

/** Each API as its model sees it: how it calls, what its tools are named, what its results say. */
const APIS: {
  readonly [shape in ChatShape]: {
    readonly call: (id: string, call: ScriptedCall) => Json;
    readonly name: (tool: Fields) => string;
    readonly results: (messages: readonly Fields[]) => readonly string[];
  };
} = {
  openai: {
    call: (id, { name, input }) => ({ id, type: 'function', function: { name, arguments: asText(input) } }),
    name: (tool) => (tool['function'] as { name: string }).name,
    results: (messages) => messages.map(({ content }) => content as string),
  },
  'openai-responses': {
    call: (id, { name, input }) => ({
      type: 'function_call',
      call_id: id,
      id: `fc_${id}`,
      name,
      arguments: asText(input),
    }),
    name: (tool) => tool['name'] as string,
    results: (messages) => messages.map(({ output }) => output as string),
  },
  anthropic: {
    call: (id, { name, input }) => ({ type: 'tool_use', id, name, input: input as Json }),
    name: (tool) => tool['name'] as string,
    results: (messages) =>
      messages.flatMap(({ content }) => (content as { content: string }[]).map((one) => one.content)),
  },
  gemini: {
    call: (id, { name, input }) => ({ functionCall: { id, name, args: input as Json } }),
    name: (tool) => tool['name'] as string,
    results: (messages) =>
      messages.flatMap(({ parts }) =>
        (parts as { functionResponse: { response: { output?: string; error?: string } } }[]).map(
          ({ functionResponse: { response } }) => response.output ?? response.error ?? '',
        ),
      ),
  },
  plain: {
    call: (id, { name, input }) => ({ id, name, input: input as Json }),
    name: (tool) => tool['name'] as string,
    results: (messages) => messages.map(({ text }) => text as string),
  },
};

const asText = (input: ScriptedCall['input']) => (typeof input === 'string' ? input : JSON.stringify(input));

function driver(shape: ChatShape): AgentDriver {
  const api = APIS[shape];
  return {
    async play({ agentSession, script, person }: Scene) {
      const ask = (request: object) => person(JSON.stringify(request));
      const loop = plainLoop(agentSession, { shape, ask });
      const seen: SeenTurn[] = [];
      let results: readonly string[] = [];
      for (const turn of script) {
        seen.push({ offered: (await loop.tools()).map(api.name), instructions: await loop.system(), results });
        if ('say' in turn) break;
        const { messages } = await loop.answer(turn.calls.map((call, index) => api.call(`call-${index}`, call)));
        results = api.results(messages as readonly Fields[]);
      }
      return seen;
    },
  };
}

// The shapes differ in nothing but the translation, which is tested for each below.
for (const shape of depth<readonly ChatShape[]>(['anthropic'], ['openai', 'anthropic']))
  describeAgentAdapter(`the plain loop (${shape})`, () => driver(shape), depth('most', 'all'));

describe.each(Object.keys(APIS) as ChatShape[])('a plain loop in the shape of %s', (shape) => {
  it('offers tools, reads calls and returns results in that API’s shape', async () => {
    const { session } = await stage();
    await lead(session, 'explore');
    const calls: readonly ScriptedCall[] = [
      { name: 'read', input: { path: 'src/a.ts' } },
      { name: 'read', input: '{"path": ' },
      { name: 'hop', input: { to: 'edit', exit: 'found-target', reason: 'x' } },
      { name: 'grep', input: { pattern: 'a' } },
    ];
    const loop = plainLoop(agentSession(session), { shape });
    expect((await loop.tools()).map(APIS[shape].name)).toEqual(
      'read glob grep bash-readonly web-fetch hop mode status why'.split(' '),
    );
    const { messages, answers, toolsChanged } = await loop.answer(
      calls.map((call, index) => APIS[shape].call(`${index}`, call)),
    );
    expect(answers.map(({ status }) => status)).toEqual(['ok', 'refused', 'ok', 'refused']);
    expect(APIS[shape].results(messages as readonly Fields[])).toEqual(answers.map(({ text }) => text));
    expect(toolsChanged).toBe(true);
    expect(JSON.stringify(messages)).toMatch(/"(?:id|tool_call_id|call_id|tool_use_id)":"3"/);
    expect((await loop.tools()).map(APIS[shape].name)).toContain('write');
  });
});

describe('an agent without tool calls', () => {
  async function talker() {
    const { session } = await stage();
    await lead(session, 'explore');
    return { session, loop: plainLoop(agentSession(session)) };
  }

  it('calls a tool with a JSON message', async () => {
    const { session, loop } = await talker();
    const turn = await loop.hear('```json\n{"tool": "read", "args": {"path": "src/a.ts"}}\n```');
    expect(turn).toMatchObject({ kind: 'call', name: 'read', messages: [{ role: 'user' }] });
    expect(session.state.steps).toBe(1);
  });

  it('gets the form of the hop that it mentions, and can use it', async () => {
    const { session, loop } = await talker();
    const turn = await loop.hear('I found the target.');
    expect(turn).toMatchObject({ kind: 'hint', exit: { exit: 'found-target', to: ['edit'] } });
    expect(session.state.peripheral).toBe('explore');
    const text = turn.messages.map(({ content }) => String(content)).join();
    const call = /answer with (\{.*?\}) and/.exec(text)?.[1] ?? '';
    expect(await loop.hear(call)).toMatchObject({ kind: 'call', toolsChanged: true });
    expect(session.state.peripheral).toBe('edit');
  });

  it('may talk without consequence', async () => {
    const { session, loop } = await talker();
    const before = await session.evidence();
    expect(await loop.hear('I am not ready to edit; the page says "hop to edit".')).toEqual({
      kind: 'talk',
      messages: [],
    });
    expect(await session.evidence()).toEqual(before);
  });

  it.each([
    '{"tool": "read", "args": "README.md"}',
    '{"hop": "edit", "reason": "it is there"',
    '```json\n{"tool": read}\n```',
  ])('gets the problem of a call that cannot be read: %s', async (text) => {
    const { session, loop } = await talker();
    const turn = await loop.hear(text);
    expect(turn).toMatchObject({ kind: 'talk', messages: [{ role: 'user' }] });
    expect(turn.messages[0]?.['content']).toMatch(/nothing was done.*"tool"/);
    expect(session.state).toMatchObject({ peripheral: 'explore', steps: 0, denials: 0 });
  });

  it('gets refusals with the remedy like any other agent', async () => {
    const { loop } = await talker();
    const turn = await loop.hear('{"tool": "write", "args": {"path": "src/a.ts", "content": ""}}');
    expect(turn.messages[0]?.['content']).toMatch(/tool-not-allowed[\s\S]*hop to edit/);
  });

  it('gets the available tools and the form of a call', async () => {
    const { loop } = await talker();
    const turn = await loop.talkOnly();
    for (const each of ['- read: { path, offset?, limit? }', '- hop: {', '"hop": "<peripheral>"'])
      expect(turn).toContain(each);
    expect(turn).not.toContain('- write');
  });
});

describe('a plain loop', () => {
  it('answers an invalid call with a refusal', async () => {
    const { session } = await stage();
    await lead(session, 'explore');
    for (const shape of Object.keys(APIS) as ChatShape[]) {
      const loop = plainLoop(agentSession(session), { shape });
      await fc.assert(
        fc.asyncProperty(fc.oneof(fc.anything(), fc.array(fc.anything(), { maxLength: 3 })), async (calls) => {
          const { messages, answers } = await loop.answer(calls);
          expect(answers).toHaveLength(Array.isArray(calls) ? calls.length : 1);
          if (shape !== 'anthropic' && shape !== 'gemini') expect(messages).toHaveLength(answers.length);
          for (const { status } of answers) expect(status).toBe('refused');
        }),
        { numRuns: 60 },
      );
    }
  });

  it('gives Gemini a response by name for each call, errors included', async () => {
    const { session } = await stage();
    await lead(session, 'explore');
    const loop = plainLoop(agentSession(session), { shape: 'gemini' });
    expect((await loop.tools())[0]).toMatchObject({ name: 'read', parametersJsonSchema: { type: 'object' } });
    const calls = [
      { functionCall: { name: 'read', args: { path: 'src/a.ts' } } },
      { id: 'two', name: 'write', args: {} },
    ];
    const { messages } = await loop.answer(calls);
    expect(messages).toEqual([
      {
        role: 'user',
        parts: [
          { functionResponse: { name: 'read', response: { output: expect.stringContaining('src/a.ts') } } },
          { functionResponse: { id: 'two', name: 'write', response: { error: expect.stringContaining('refused') } } },
        ],
      },
    ]);
  });

  it('returns each result to its own call', async () => {
    const { session } = await stage();
    await lead(session, 'explore');
    const two = [
      { type: 'tool_use', id: 'one', name: 'read', input: { path: 'src/a.ts' } },
      { type: 'tool_use', id: 'two', name: 'write', input: {} },
    ];
    const { messages } = await plainLoop(agentSession(session), { shape: 'anthropic' }).answer(two);
    expect(messages).toMatchObject([
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'one', is_error: false },
          { type: 'tool_result', tool_use_id: 'two', is_error: true },
        ],
      },
    ]);
  });
});
