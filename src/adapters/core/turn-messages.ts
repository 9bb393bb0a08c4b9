import { HOW_TO_ANSWER, renderMessages } from '../../messages/render-messages.ts';
import type { Message } from '../../ports/message-store.ts';
import type { Session } from '../../session/session.ts';

/**
 * By session: the messages that this process has shown to the agent and that are not acknowledged. A new process does
 * not know them, so it shows the messages again, with the same ids.
 */
const shown = new Map<string, Set<string>>();

/** {@link newMessages} as text; null if there are none. */
export async function turnMessages(session: Session): Promise<string | null> {
  const messages = await newMessages(session);
  return messages.length === 0 ? null : messagesText(messages);
}

/** Messages in the form in which they end an answer to the agent. */
export const messagesText = (messages: readonly Message[]): string => `${renderMessages(messages)}\n${HOW_TO_ANSWER}`;

/** The new messages of a session for its agent's next request. They count as shown. */
export async function newMessages(session: Session): Promise<readonly Message[]> {
  const inbox = await session.inbox();
  if (!inbox.ok) return [];
  const before = shown.get(session.id);
  const added = before ? inbox.messages.filter(({ id }) => !before.has(id)) : inbox.messages;
  if (added.length === 0) return [];
  shown.set(session.id, new Set([...(before ?? []), ...added.map(({ id }) => id)]));
  return added;
}

/** The ids of the messages that were shown and are not acknowledged. */
export const shownMessages = (session: Session): readonly string[] => [...(shown.get(session.id) ?? [])];

/** Acknowledges messages that a request of the agent to its model has contained. */
export async function acknowledgeShown(
  session: Session,
  ids: readonly string[] = shownMessages(session),
): Promise<void> {
  if (ids.length === 0) return;
  await session.acknowledge(ids);
  const left = shownMessages(session).filter((id) => !ids.includes(id));
  if (left.length > 0) shown.set(session.id, new Set(left));
  else shown.delete(session.id);
}

/** Shows unacknowledged messages again, because the restarted program of the agent may have lost them. */
export const showAgain = (session: Session): boolean => shown.delete(session.id);
