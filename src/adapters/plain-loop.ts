import type { ApprovalRequest } from '../ports/approver.ts';
import type { AgentAnswer, AgentCall, AgentSession } from './core/agent-session.ts';
import {
  type ChatMessage,
  type ChatShape,
  type ChatTool,
  readChatCall,
  type ReadCall,
  SHAPES,
} from './core/chat-shapes.ts';

export type { AgentAnswer, AgentSession } from './core/agent-session.ts';
export type { ChatMessage, ChatShape, ChatTool } from './core/chat-shapes.ts';
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

/** What a loop around a chat API needs of a session. */
export interface PlainLoop {
  /** What the model is told before anything else, and again after a compaction. */
  system(): Promise<string>;
  /** The tools that may be called now, in the API's shape. */
  tools(): Promise<readonly ChatTool[]>;
  /** Carries out the calls of one turn, in their order: what an earlier hop has outlawed is refused. Never throws for what a model sent. */
  answer(calls: unknown): Promise<Answered>;
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
  return {
    system: () => session.prompt(),
    tools: async () => (await session.tools()).map(tool),
    async answer(calls) {
      const read = (Array.isArray(calls) ? calls : [calls]).map(readChatCall);
      const answers: AgentAnswer[] = [];
      for (const call of read) answers.push(await one(call));
      const pairs = read.map(({ id }, index) => ({ id, answer: answers[index] as AgentAnswer }));
      return { messages: results(pairs), answers, toolsChanged: answers.some(({ toolsChanged }) => toolsChanged) };
    },
  };
}
