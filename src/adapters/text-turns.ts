import { assertArgument } from '../base/assert-argument.ts';
import { labelTextWithSource, nameMessageSource } from '../base/attribute-text.ts';
import { fieldsOf } from '../base/json.ts';
import { quoteMessageText, quoteUnusualName } from '../messages/render-messages.ts';
import type { Message } from '../ports/message-store.ts';
import { type AgentAnswer, type AgentSession, assertAgentSession } from './core/agent-session.ts';
import { readTextCommand, type TextCommand } from './core/language/text-command.ts';
import { renderMessagesForAgent } from './core/turn-messages.ts';

export type { AgentAnswer, AgentSession } from './core/agent-session.ts';
export { quoteWord, readTextCommand, type TextCommand } from './core/language/text-command.ts';

/** A message that arrived between two turns of the agent. */
export interface MessageIn {
  readonly kind: 'bell' | 'whistle';
  /** The sender, from the message's envelope. */
  readonly from: string;
  readonly text: string;
}

/** The outcome of one line of the agent: a command that was done or could not be read, or talk, which does nothing. */
export type HeardLine =
  | { readonly kind: 'talk'; readonly line: string }
  | { readonly kind: 'unreadable'; readonly line: string; readonly why: string }
  | { readonly kind: 'done'; readonly line: string; readonly answer: AgentAnswer };

export interface TextTurnsOptions {
  /** The tool that plays a command of the world. Default `alfworld-action`. */
  readonly tool?: string;
  /** The peripheral that `hop-out` leads to. Default `chat`. */
  readonly home?: string;
  /** Records the agent's words and the messages that it received, as a recorded session does. */
  readonly record?: {
    readonly said: (text: string) => void;
    readonly heard: (source: string, text: string, channel?: string) => void;
  };
}

/**
 * Shows a session to an agent as turns of text. The agent answers in lines such as `> open cabinet 1`, `> bell joe
 * "…"` or `> hop-out "…"`. Each line is an ordinary call of the session. Text that arrives between two turns, from the
 * world and from others, is delivered in the order of arrival, each part with its source. A bell to the sender of a
 * whistle answers the whistle.
 * @throws TypeError if `session` is not an `agentSession(…)`
 * @example
 * const turns = textTurns(agentSession(session));
 * for (;;) await turns.hear(await model(turns.next()));
 */
export function textTurns(session: AgentSession, options: TextTurnsOptions = {}) {
  assertAgentSession(session, 'textTurns', options);
  const { tool = 'alfworld-action', home = 'chat', record } = options;
  let waiting: string[] = [];
  /**
   * By each name of a sender: the id of its last whistle that no bell has answered, and the address of the answer. For
   * an agent's bare id, the address is this id, too: if a person has the same name, the bell is refused as ambiguous.
   */
  const openWhistles = new Map<string, { readonly to: string; readonly ref: string }>();
  let count = 0;

  const carryOut = async (command: Exclude<TextCommand, { kind: 'unreadable' }>) => {
    if (command.kind === 'world') return session.call({ name: tool, input: { action: command.command } });
    if (command.kind === 'hop-out') return session.call({ name: 'hop', input: { hop: home, reason: command.reason } });
    const messageTool = (await session.allTools()).find(({ name }) => name === command.kind);
    // The message is the parameter after the recipient, whatever the catalogue calls it.
    const [to = 'to', message = 'message'] = Object.keys(messageTool?.inputSchema.properties ?? {});
    const whistle = command.kind === 'bell' ? openWhistles.get(command.to) : undefined;
    const addressed = whistle ? { [to]: whistle.to, act: 'answer', ref: whistle.ref } : { [to]: command.to };
    const answer = await session.call({ name: command.kind, input: { ...addressed, [message]: command.message } });
    if (whistle && answer.status === 'ok') openWhistles.delete(command.to);
    return answer;
  };
  /** The answer's text without the messages at its end, which the turn shows as separate parts. */
  const withoutMessages = ({ text, messages }: AgentAnswer): string =>
    messages ? text.slice(0, -renderMessagesForAgent(messages).length - 1) : text;
  const addMessage = ({ kind, author, from, id, text }: Message): void => {
    const name = nameMessageSource(from, author);
    const source = `${kind === 'bell' ? 'Bell' : 'Whistle'} from ${quoteUnusualName(name)}`;
    waiting.push(labelTextWithSource(source, quoteMessageText(text)));
    if (kind !== 'whistle') return;
    openWhistles.set(author, { to: author, ref: id });
    for (const each of [name, from]) openWhistles.set(each, { to: from, ref: id });
  };
  const sourceOf = (command: TextCommand, { status, data }: AgentAnswer): string => {
    if (status !== 'ok' || fieldsOf(data)['status'] === 'waiting') return 'hopgate';
    if (command.kind === 'world') return '';
    return command.kind === 'whistle' ? `Whistle response from ${command.to}` : 'hopgate';
  };
  const hearLine = async (line: string): Promise<HeardLine> => {
    const command = readTextCommand(line);
    if (command === null) return { kind: 'talk', line };
    if (command.kind === 'unreadable') {
      waiting.push(labelTextWithSource('hopgate', `Nothing was sent: ${command.why}.`));
      return { kind: 'unreadable', line, why: command.why };
    }
    const answer = await carryOut(command);
    const source = sourceOf(command, answer);
    const answered = fieldsOf(fieldsOf(answer.data)['answer'])['text'];
    const text = typeof answered === 'string' ? quoteMessageText(answered) : withoutMessages(answer);
    // The text of a world's turn already names its sources.
    waiting.push(source === '' ? text : labelTextWithSource(source, text));
    for (const message of answer.messages ?? []) addMessage(message);
    return { kind: 'done', line, answer };
  };

  return {
    /** Puts a message into the next turn. */
    arrived({ kind, from, text }: MessageIn): void {
      assertArgument(typeof from === 'string', 'arrived: from', 'the name of the sender', from);
      record?.heard(from, text, kind);
      const name = from.replaceAll(/[\s[\]]+/g, ' ').trim();
      const source = kind === 'bell' ? `Bell from ${name}` : `Whistle response from ${name}`;
      waiting.push(labelTextWithSource(source, JSON.stringify(text)));
    },
    /** The text of the next turn, with all that arrived since the last one. */
    next(): string {
      count += 1;
      const parts = waiting.map((part) => part.replaceAll(/^/gm, '  '));
      waiting = [];
      return [`Turn ${count}:`, ...parts, '', 'What do you do?'].join('\n');
    },
    /** Carries out the commands in the agent's text: lines that begin with `>`, or a text that is one command. */
    async hear(text: string): Promise<readonly HeardLine[]> {
      assertArgument(typeof text === 'string', 'hear: text', "the agent's text", text);
      record?.said(text);
      const lines = text.split(/\r?\n/).map((line) => line.trim());
      const marked = lines.filter((line) => line.startsWith('>'));
      return Array.fromAsync(marked.length > 0 ? marked : [text.trim()], hearLine);
    },
  };
}
