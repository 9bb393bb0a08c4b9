import { assertArgument } from '../base/assert-argument.ts';
import { type AgentAnswer, type AgentCall, type AgentSession, assertAgentSession } from './core/agent-session.ts';
import { type Ask, askPerson } from './core/approval-question.ts';
import {
  CHAT_SHAPES,
  type ChatMessage,
  type ChatShape,
  type ChatTool,
  type ModelCall,
  readChatCall,
} from './core/calls/chat-shapes.ts';
import { type DetectedExit, detectExitAmong, listOpenExits } from './core/language/detect-exit.ts';
import { looksLikeJsonMove, readJsonMove } from './core/language/read-json-move.ts';

export type { AgentAnswer, AgentSession } from './core/agent-session.ts';
export type { Ask } from './core/approval-question.ts';
export type { ChatMessage, ChatShape, ChatTool } from './core/calls/chat-shapes.ts';
export { agentSession } from './core/local-agent-session.ts';

export interface PlainLoopOptions {
  /** The chat API whose shapes are used. Default: `openai` (Chat Completions). */
  readonly shape?: ChatShape;
  /** Called when a call only lacks an approval. Default: the session's own approver. */
  readonly ask?: Ask;
  readonly signal?: AbortSignal;
}

/** The answers to the calls of one turn. */
export interface AnsweredCalls {
  /** Messages to append to the conversation: one result per call, in the order of the calls. */
  readonly messages: readonly ChatMessage[];
  readonly answers: readonly AgentAnswer[];
  /** True if the set of available tools changed; call `tools()` again. */
  readonly toolsChanged: boolean;
}

/** The result of reading a text from an agent without tool calls. */
export type HeardText =
  /** The text was a call, written as JSON, which has been answered. */
  | ({ readonly kind: 'call'; readonly name: string } & AnsweredCalls)
  /** The text names an exit. Nothing was done; the messages explain how to request the hop. */
  | { readonly kind: 'hint'; readonly exit: DetectedExit; readonly messages: readonly ChatMessage[] }
  /** Nothing was done. If the text looks like a call that cannot be parsed, the message says so. */
  | { readonly kind: 'talk'; readonly messages: readonly ChatMessage[] };

/** The parts of a session that a hand-written loop around a chat API needs. */
export interface PlainLoop {
  /** The system prompt; request it again after a compaction. */
  system(): Promise<string>;
  /** The tools available now, in the API's shape. */
  tools(): Promise<readonly ChatTool[]>;
  /** Carries out a turn's calls in order; a call that an earlier hop made unavailable is refused. Never throws. */
  answer(calls: unknown): Promise<AnsweredCalls>;
  /**
   * For agents without tool calls: reads the agent's own text (never tool output). A call written as JSON is carried
   * out; if the words name an exit, the answer explains how to request the hop. Words alone never move a session.
   */
  hear(text: string): Promise<HeardText>;
  /** Instructions for agents without tool calls: how to write a call. */
  talkOnly(): Promise<string>;
}

/**
 * Puts a session between a chat API and its model: offer `tools()`, pass every call to `answer()`, append its messages,
 * and continue.
 * @throws TypeError if `session` is not an `agentSession(…)`, or for an unknown shape
 * @example
 * const loop = plainLoop(agentSession(session), { shape: 'anthropic' });
 * const reply = await client.messages.create({ system: await loop.system(), tools: await loop.tools(), messages });
 * messages.push(...(await loop.answer(reply.content.filter(({ type }) => type === 'tool_use'))).messages);
 */
export function plainLoop(session: AgentSession, options: PlainLoopOptions = {}): PlainLoop {
  assertAgentSession(session, 'plainLoop', options);
  const { shape = 'openai', ask, signal } = options;
  const shapes = Object.keys(CHAT_SHAPES);
  assertArgument(shapes.includes(shape), 'plainLoop: shape', `one of ${shapes.join(', ')}`, shape);
  assertArgument(ask === undefined || typeof ask === 'function', 'plainLoop: ask', 'a function', ask);
  const { tool, results } = CHAT_SHAPES[shape];
  const carryOutOne = async ({ name, input }: ModelCall): Promise<AgentAnswer> => {
    const call: AgentCall = { name, input, ...(signal ? { signal } : {}) };
    const request = ask ? await session.wants(call) : null;
    if (!ask || !request) return session.call(call);
    return session.call({ ...call, approved: await askPerson(ask, request) });
  };
  const carryOut = async (calls: readonly ModelCall[]) => {
    const answers = await Array.fromAsync(calls, carryOutOne);
    return { answers, toolsChanged: answers.some((each) => each.toolsChanged) };
  };
  return {
    system: () => session.prompt(),
    tools: async () => (await session.tools()).map(tool),
    async answer(calls) {
      const read = (Array.isArray(calls) ? calls : [calls]).map(readChatCall);
      const done = await carryOut(read);
      const pairs = read.map(({ id, name }, index) => ({ id, name, answer: done.answers[index]! }));
      return { messages: results(pairs), ...done };
    },
    async hear(text) {
      const move = readJsonMove(text);
      if (move) {
        const done = await carryOut([{ id: '', ...move }]);
        return { kind: 'call', name: move.name, messages: done.answers.map(({ text }) => userMessage(text)), ...done };
      }
      const exit = detectExitAmong(listOpenExits((await session.status()).available), text);
      if (exit) return { kind: 'hint', exit, messages: [userMessage(howToHop(exit))] };
      return { kind: 'talk', messages: looksLikeJsonMove(text) ? [userMessage(UNREADABLE)] : [] };
    },
    async talkOnly() {
      const tools = (await session.tools()).map(({ name, inputSchema }) => {
        const { properties, required } = inputSchema;
        return `- ${name}: { ${Object.keys(properties)
          .map((each) => (required.includes(each) ? each : `${each}?`))
          .join(', ')} }`;
      });
      return `${HOW_TO_CALL} The tools:\n${tools.join('\n')}`;
    },
  };
}

const HOW_TO_CALL =
  'To call a tool, write one JSON object and nothing else: {"tool": "<name>", "args": {…}}; to hop, {"hop": "<peripheral>", "exit": "<exit>", "reason": "…"}. One call per message.';
const UNREADABLE = `Your message looks like a call but cannot be parsed; nothing was done. ${HOW_TO_CALL}`;

const userMessage = (content: string): ChatMessage => ({ role: 'user', content });

function howToHop({ exit, to, reason }: DetectedExit): string {
  const hops = to.map((target) => JSON.stringify({ hop: target, exit, reason: '…' }));
  return `You said: ${JSON.stringify(reason)}. This changes nothing by itself. To leave by "${exit}", answer with ${hops.join(' or ')} and nothing else; otherwise continue.`;
}
