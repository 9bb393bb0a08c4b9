import type { EvidenceStore } from '../ports/evidence-store.ts';
import type { Message, MessageDraft, MessageStore } from '../ports/message-store.ts';
import { isMessageRecipient, resolveAddress } from './resolve-address.ts';
import { isSpeechAct, MAX_MESSAGE_CHARS, SPEECH_ACTS } from './speech-acts.ts';

/** A message before it is checked. Its sender does not choose `from` and `author`; hopgate sets them. */
export interface UncheckedMessage extends Pick<Message, 'kind' | 'id' | 'from'> {
  /** The name of the sender. Default: the agent of the session, or the name of the person. */
  readonly author?: string;
  readonly to: unknown;
  readonly text: unknown;
  readonly act?: unknown;
  readonly ref?: unknown;
}

export interface MessageProblem {
  readonly ok: false;
  readonly argument: 'to' | 'text' | 'act' | 'ref';
  readonly message: string;
  readonly remedy: string;
}

/** Returns the problem of a message's text; null if it can be sent. */
export function checkMessageText(text: string): MessageProblem | null {
  if (text.trim() === '') return refuseArgument('text', 'the text is empty', 'Write the message.');
  if (text.length > MAX_MESSAGE_CHARS)
    return refuseArgument(
      'text',
      `the text has ${text.length} characters`,
      `Send at most ${MAX_MESSAGE_CHARS} characters, or write the text to a file and name the file.`,
    );
  return null;
}

/** Checks a message and resolves its recipient. Nothing is sent. */
export async function checkMessage(
  store: EvidenceStore,
  messages: MessageStore,
  post: UncheckedMessage,
): Promise<{ readonly ok: true; readonly draft: MessageDraft } | MessageProblem> {
  const { kind, id, from, to, ref } = post;
  const text = typeof post.text === 'string' ? post.text : '';
  const act = post.act ?? (kind === 'whistle' ? 'query' : 'assert');
  if (!isSpeechAct(act))
    return refuseArgument('act', `"${act}" is not a speech act`, `Use one of ${Object.keys(SPEECH_ACTS).join(', ')}.`);
  const unfit = checkMessageText(text);
  if (unfit) return unfit;
  const sessions = (await store.sessions()).map(({ sessionId, agent, closed }) => ({ id: sessionId, agent, closed }));
  const directory = { sessions, people: await messages.people(), nodes: await messages.nodes() };
  const recipient = resolveAddress(String(to), directory);
  if (!recipient.ok) {
    const { message, candidates } = recipient;
    const start = 'Nobody has an inbox now; start a session first.';
    return refuseArgument(
      'to',
      message,
      candidates.length > 0 ? `Send it to one of: ${candidates.join(', ')}.` : start,
    );
  }
  const referred = typeof ref === 'string' ? await messages.find(ref) : null;
  if (ref !== undefined && (!referred || (!isMessageRecipient(from, referred.to) && referred.from !== from)))
    return refuseArgument('ref', `"${ref}" is not a message that you sent or received`, 'Copy the id from the inbox.');
  if (act === 'answer' && !(referred && isMessageRecipient(from, referred.to)))
    return refuseArgument('ref', 'an answer refers to a message that you got', 'Give the id of that message as ref.');
  if (act === 'answer' && !isMessageRecipient(referred!.from, recipient.address))
    return refuseArgument('to', `message ${ref} is from ${referred!.from}`, `Send the answer to ${referred!.from}.`);
  const name = from.slice(from.indexOf(':') + 1);
  const author = post.author ?? sessions.find((each) => from === `session:${each.id}`)?.agent ?? name;
  return {
    ok: true,
    draft: { id, kind, act, from, author, to: recipient.address, text: text.toWellFormed(), ref: referred?.id ?? null },
  };
}

/** Sends a checked bell. An answer marks its message as answered and ends the wait for an answer. */
export async function sendBell(messages: MessageStore, draft: MessageDraft): Promise<Message> {
  const message = await messages.send(draft);
  if (message.act === 'answer' && message.ref !== null) {
    await messages.mark(message.ref, 'answered');
    await messages.endWait(message.ref);
  }
  return message;
}

/** The result of a whistle: the answer is null if it did not come in time, and then arrives as a message. */
type WhistleResult =
  | { readonly ok: true; readonly message: Message; readonly answer: Message | null; readonly waitedMs: number }
  | MessageProblem;

/**
 * Blocks the sender, sends a checked whistle and waits for its answer. The deadline ends the wait; the recipient may
 * still answer later. The caller marks the answer as read once it is recorded or shown. A wait cycle is refused
 * before anybody waits, and nothing is sent.
 */
export async function sendWhistle(
  messages: MessageStore,
  draft: MessageDraft,
  { seconds, signal }: { readonly seconds: number; readonly signal: AbortSignal },
): Promise<WhistleResult> {
  const began = Date.now();
  const until = began + seconds * 1000;
  const cycle = await messages.wait({ id: draft.id, waiter: draft.from, target: draft.to, until });
  if (cycle) return refuseArgument('to', describeWaitCycle(cycle.join(' → ')), 'Send a bell, which does not wait.');
  try {
    const message = await messages.send(draft);
    const answer = await waitForAnswer(messages, message.id, until, signal);
    return { ok: true, message, answer, waitedMs: Date.now() - began };
  } finally {
    await messages.endWait(draft.id);
  }
}

/** The reason for the refusal of a whistle that closes a wait cycle. */
export const describeWaitCycle = (cycle: string): string => `the whistle would wait for itself: ${cycle}`;

const refuseArgument = (argument: MessageProblem['argument'], message: string, remedy: string): MessageProblem => ({
  ok: false,
  argument,
  message,
  remedy,
});

/** Interval of looking for an answer that another process may write, in milliseconds. */
const POLL_MS = 50;

/** Waits for the answer to a message until `until` (epoch milliseconds); null if it did not come, or after an abort. */
async function waitForAnswer(
  messages: MessageStore,
  id: string,
  until: number,
  signal: AbortSignal,
): Promise<Message | null> {
  for (;;) {
    const answer = await messages.answerTo(id);
    if (signal.aborted) return null;
    if (answer || Date.now() >= until) return answer;
    await new Promise((resolve) => setTimeout(resolve, Math.min(POLL_MS, Math.max(1, until - Date.now()))));
  }
}
