import type { ApprovalRequest } from '../ports/approver.ts';
import type { AgentAnswer, AgentCall, AgentSession } from './core/agent-session.ts';
import {
  type ChatMessage,
  type ChatShape,
  type ChatTool,
  readChatCall,
  type ReadCall,
  SHAPES,
} from './core/calls/chat-shapes.ts';
import { type DetectedExit, detectAmong, openExits } from './core/language/detect-exit.ts';
import { looksLikeJsonMove, readJsonMove } from './core/language/read-json-move.ts';

export type { AgentAnswer, AgentSession } from './core/agent-session.ts';
export type { ChatMessage, ChatShape, ChatTool } from './core/calls/chat-shapes.ts';
export { agentSession } from './core/local.ts';

/** A person's answer to an approval request: true or a name approves it, anything else does not. */
export type Ask = (request: ApprovalRequest) => boolean | string | Promise<boolean | string>;

export interface PlainLoopOptions {
  /** The chat API whose shapes are spoken. Default: `openai` (Chat Completions). */
  readonly shape?: ChatShape;
  /** Asked when a call needs an approval and everything else about it is in order. Without it, the session's own approver is. */
  readonly ask?: Ask;
  readonly signal?: AbortSignal;
}

export interface Answered {
  /** To be appended to the conversation: one result for each call, in the order of the calls. */
  readonly messages: readonly ChatMessage[];
  readonly answers: readonly AgentAnswer[];
  /** The tools that can be called now are others than before: ask for them again. */
  readonly toolsChanged: boolean;
}

/** What came of a text that an agent without tools wrote. */
export type Heard =
  /** It was a call, written as JSON, and has been answered. */
  | ({ readonly kind: 'call'; readonly name: string } & Answered)
  /** It seems to want to leave. Nothing was done; the messages tell it how to ask for the hop. */
  | { readonly kind: 'hint'; readonly exit: DetectedExit; readonly messages: readonly ChatMessage[] }
  /** Nothing was done; where it was meant as a call and could not be read, the message says so. */
  | { readonly kind: 'talk'; readonly messages: readonly ChatMessage[] };

/** What a loop around a chat API needs of a session. */
export interface PlainLoop {
  /** What the model is told before anything else, and again after a compaction. */
  system(): Promise<string>;
  /** The tools that may be called now, in the API's shape. */
  tools(): Promise<readonly ChatTool[]>;
  /** Carries out the calls of one turn, in their order: what an earlier hop has outlawed is refused. Never throws for what a model sent. */
  answer(calls: unknown): Promise<Answered>;
  /**
   * For agents that can only talk: takes what one wrote, and nothing else (no tool output). A call written as JSON is carried out; where its words
   * name an exit, it is told how to ask for the hop. Talk never moves a session by itself.
   */
  hear(text: string): Promise<Heard>;
  /** What such an agent is told of how to write a call. */
  talkOnly(): Promise<string>;
}

/**
 * Puts a session between a chat API and its model: offer `tools()`, hand every call to `answer()`, append its messages, and go on.
 *
 * @example
 * const loop = plainLoop(agentSession(session), { shape: 'anthropic' });
 * const reply = await client.messages.create({ system: await loop.system(), tools: await loop.tools(), messages });
 * messages.push(...(await loop.answer(reply.content.filter(({ type }) => type === 'tool_use'))).messages);
 */
export function plainLoop(session: AgentSession, { shape = 'openai', ask, signal }: PlainLoopOptions = {}): PlainLoop {
  const { tool, results } = SHAPES[shape];
  const one = async ({ name, input }: ReadCall): Promise<AgentAnswer> => {
    const call: AgentCall = { name, input, ...(signal ? { signal } : {}) };
    const wanted = ask ? await session.wants(call) : null;
    if (!ask || !wanted) return session.call(call);
    const said = await ask(wanted);
    const by = said === true ? 'operator' : said;
    return session.call({ ...call, approved: by ? { hash: wanted.hash, by } : null });
  };
  const carryOut = async (read: readonly ReadCall[]): Promise<readonly AgentAnswer[]> => {
    const answers: AgentAnswer[] = [];
    for (const call of read) answers.push(await one(call));
    return answers;
  };
  return {
    system: () => session.prompt(),
    tools: async () => (await session.tools()).map(tool),
    async answer(calls) {
      const read = (Array.isArray(calls) ? calls : [calls]).map(readChatCall);
      const answers = await carryOut(read);
      const pairs = read.map(({ id, name }, index) => ({ id, name, answer: answers[index] as AgentAnswer }));
      return { messages: results(pairs), answers, toolsChanged: answers.some(({ toolsChanged }) => toolsChanged) };
    },
    async hear(text) {
      const move = readJsonMove(text);
      if (move) {
        const answers = await carryOut([{ id: '', ...move }]);
        const messages = answers.map((answer) => said(answer.text));
        return {
          kind: 'call',
          name: move.name,
          answers,
          messages,
          toolsChanged: answers.some((each) => each.toolsChanged),
        };
      }
      const exit = detectAmong(openExits((await session.status()).available), text);
      if (exit) return { kind: 'hint', exit, messages: [said(howToHop(exit))] };
      return { kind: 'talk', messages: looksLikeJsonMove(text) ? [said(UNREADABLE)] : [] };
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
  'To call a tool, write one JSON object and nothing else: {"tool": "<name>", "args": {…}}; to hop, {"hop": "<peripheral>", "exit": "<exit>", "reason": "…"}. One call a message.';
const UNREADABLE = `Your message looks like a call, and cannot be read as one; nothing was done. ${HOW_TO_CALL}`;

const said = (content: string): ChatMessage => ({ role: 'user', content });

function howToHop({ exit, to, reason }: DetectedExit): string {
  const hops = to.map((target) => JSON.stringify({ hop: target, exit, reason: '…' }));
  return `You said: ${JSON.stringify(reason)}. Nothing has changed by that. If you want to leave by "${exit}", answer with ${hops.join(' or ')} and nothing else; if not, go on.`;
}
