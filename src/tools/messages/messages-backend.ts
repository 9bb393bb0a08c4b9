import { randomUUID } from 'node:crypto';
import { checkMessage, type MessageProblem, sendBell, sendWhistle } from '../../messages/send-message.ts';
import type { EvidenceStore } from '../../ports/evidence-store.ts';
import type { Message } from '../../ports/message-store.ts';
import type { ToolBackend, ToolCall, ToolOutcome, ToolRefusal } from '../../ports/tool-backend.ts';
import { LAZY_BACKENDS } from '../../spec/policy/tool-ids.ts';
import type { Json } from '../../spec/types.ts';
import { invalidCall, reportIfAborted } from '../tool-outcomes.ts';

/** Default time in seconds that a whistle waits; shorter than the limit of client programs for a tool call. */
const DEFAULT_SECONDS = 45;

/** `bell` sends without waiting. `whistle` waits until a deadline; a late answer arrives as a message. */
export function messagesBackend(store: EvidenceStore): ToolBackend {
  return {
    ...LAZY_BACKENDS.messages,
    run: async (call) => reportIfAborted(call) ?? { outcome: await send(store, call), effects: [] },
  };
}

async function send(store: EvidenceStore, call: ToolCall): Promise<ToolOutcome> {
  const { messages } = store;
  if (!messages)
    return {
      status: 'failed',
      code: 'no-inbox',
      message: "This session's store has no inboxes; use SQLite or memory.",
    };
  const kind = call.tool.id === 'whistle' ? 'whistle' : 'bell';
  const { to, text, act, ref, seconds } = call.args;
  const id = call.messageId ?? `m-${randomUUID()}`;
  const checked = await checkMessage(store, messages, {
    kind,
    id,
    from: `session:${call.sessionId}`,
    to,
    text,
    act,
    ref,
  });
  if (!checked.ok) return toolRefusal(checked);
  if (kind === 'bell') return ok(receiptOf(await sendBell(messages, checked.draft)));
  const wait = typeof seconds === 'number' ? seconds : DEFAULT_SECONDS;
  const whistled = await sendWhistle(messages, checked.draft, { seconds: wait, signal: call.signal });
  if (!whistled.ok) return toolRefusal(whistled);
  const { message, answer, waitedMs } = whistled;
  const waited = { ...receiptOf(message), waitedMs };
  if (!answer) return ok({ ...waited, status: 'waiting', job: id, note: 'The answer will arrive as a message.' });
  const { from, author, seq } = answer;
  return ok({ ...waited, status: 'answered', answer: { id: answer.id, seq, from, author, text: answer.text } });
}

const receiptOf = ({ id, to, seq, act, sentAt }: Message) => ({ message: id, to, seq, act, sentAt });

const ok = (result: Json): ToolOutcome => ({ status: 'ok', result });

const toolRefusal = ({ argument, message, remedy }: MessageProblem): ToolRefusal =>
  invalidCall(argument, message, remedy);
