import { HOW_TO_ANSWER_NOTE, renderMessages } from '../../messages/render-messages.ts';
import type { Message } from '../../ports/message-store.ts';
import type { Session } from '../../session/session.ts';

/** Ids of the shown, unacknowledged messages of each session. A new process shows these messages again. */
const shownIds = new Map<string, Set<string>>();

/** {@link takeNewMessages} as text; null if there are none. */
export async function takeNewMessagesText(session: Session): Promise<string | null> {
  const messages = await takeNewMessages(session);
  return messages.length === 0 ? null : renderMessagesForAgent(messages);
}

/** The text of messages, in the form in which it is added to an answer. */
export const renderMessagesForAgent = (messages: readonly Message[]): string =>
  `${renderMessages(messages)}\n${HOW_TO_ANSWER_NOTE}`;

/** Maximum length of the messages of one turn, so that many messages do not fill the context of a model. */
const MAX_TURN_CHARS = 32_768;

/** The new messages for the agent's next request, which count as shown; a later request gets the rest. */
export async function takeNewMessages(session: Session): Promise<readonly Message[]> {
  const inbox = await session.inbox();
  if (!inbox.ok) return [];
  const before = shownIds.get(session.id);
  const added: Message[] = [];
  let chars = 0;
  for (const message of inbox.messages) {
    if (before?.has(message.id)) continue;
    chars += renderMessages([message]).length;
    if (chars > MAX_TURN_CHARS && added.length > 0) break;
    added.push(message);
  }
  if (added.length === 0) return [];
  shownIds.set(session.id, new Set([...(before ?? []), ...added.map(({ id }) => id)]));
  return added;
}

export const unacknowledgedMessageIds = (session: Session): readonly string[] => [...(shownIds.get(session.id) ?? [])];

/** Acknowledges messages that the agent has read: its last request to its model contained them. */
export async function acknowledgeMessages(
  session: Session,
  ids: readonly string[] = unacknowledgedMessageIds(session),
): Promise<void> {
  if (ids.length === 0) return;
  await session.acknowledge(ids);
  const remaining = unacknowledgedMessageIds(session).filter((id) => !ids.includes(id));
  if (remaining.length > 0) shownIds.set(session.id, new Set(remaining));
  else shownIds.delete(session.id);
}

/** Shows unacknowledged messages again, because the restarted program of the agent may have lost them. */
export const showMessagesAgain = (session: Session): boolean => shownIds.delete(session.id);
