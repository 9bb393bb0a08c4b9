import { fieldsOf, textOf } from '../base/json.ts';
import type { MessageBody } from '../evidence/bodies.ts';
import type { EvidenceStore } from '../ports/evidence-store.ts';
import type { Message } from '../ports/message-store.ts';
import type { Json } from '../spec/types.ts';
import type { SessionWriter } from './session-writer.ts';

interface Correspondent {
  readonly parts: { readonly store: EvidenceStore };
  readonly writer: SessionWriter;
}

/** Maximum number of messages that one call records or returns; later calls get the others. */
const MAX_MESSAGES = 1000;

const addressOf = ({ writer }: Correspondent): string => `session:${writer.state.facts.sessionId}`;

/** Records new messages and receipts in the session's evidence, unless an acting step is unfinished. */
export async function recordNewMessages(session: Correspondent): Promise<void> {
  const { messages } = session.parts.store;
  const { pending, inbox } = session.writer.state.facts;
  if (!messages || pending) return;
  const address = addressOf(session);
  if (!(await messages.hasNews(address, inbox))) return;
  const arrived = await messages.inbox(address, { after: inbox.seq, limit: MAX_MESSAGES });
  const receipts = await messages.receipts(address, inbox.receipt);
  if (arrived.length + receipts.length === 0) return;
  await session.writer.append([
    ...arrived.map(({ state: _, to: __, ...message }): MessageBody => ({ event: 'message', ...message })),
    ...receipts.map(({ message, state, nth }) => ({ event: 'receipt' as const, message, state, nth })),
  ]);
  await Promise.all(arrived.map(({ id }) => messages.mark(id, 'delivered')));
}

export async function readUnreadMessages(core: Correspondent): Promise<readonly Message[]> {
  const unread = await core.parts.store.messages?.inbox(addressOf(core), { unread: true, limit: MAX_MESSAGES });
  return (unread ?? []).filter(({ seq }) => seq <= core.writer.state.facts.inbox.seq);
}

/**
 * Marks as read the answer that a recorded whistle returned. After a crash before this mark, the answer is shown again.
 */
export async function markReturnedAnswer(session: Correspondent, result: Json): Promise<void> {
  const { messages } = session.parts.store;
  const id = textOf(fieldsOf(fieldsOf(result)['answer'])['id']);
  const answer = id === null ? null : await messages?.find(id);
  if (answer?.to === addressOf(session)) await messages!.mark(answer.id, 'read');
}

/** Records that the agent has read messages; see `Session.acknowledge`. */
export async function recordMessagesRead(session: Correspondent, ids: readonly string[]): Promise<void> {
  const { messages } = session.parts.store;
  if (!messages || session.writer.state.facts.pending) return;
  const unread = (await readUnreadMessages(session)).filter(({ id }) => ids.includes(id));
  if (unread.length === 0) return;
  // The evidence is written before the inbox: after a crash in between, the messages are shown again.
  await session.writer.append(unread.map(({ id }) => ({ event: 'receipt', message: id, state: 'read', nth: null })));
  await Promise.all(unread.map(({ id }) => messages.mark(id, 'read')));
}
