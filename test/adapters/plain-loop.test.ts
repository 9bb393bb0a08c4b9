import { plainLoop } from '../../src/adapters/plain-loop.ts';
import type { ChatShape } from '../../src/adapters/plain-loop.ts';
import type { Json } from '../../src/spec/types.ts';
import {
  type AgentDriver,
  describeAgentAdapter,
  type Scene,
  type ScriptedCall,
  type SeenTurn,
} from '../contracts/agent-adapter.ts';

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

for (const shape of Object.keys(APIS) as ChatShape[])
  describeAgentAdapter(`the plain loop (${shape})`, () => driver(shape));
