import type { Message, MessageStore } from '../ports/message-store.ts';

/** Interval between looks for an answer, in milliseconds. Another process may write it. */
const LOOK_MS = 50;

/** Waits for the answer to a message until `until` (epoch milliseconds); null if it did not come, or after an abort. */
export async function waitForAnswer(
  messages: MessageStore,
  id: string,
  until: number,
  signal: AbortSignal,
): Promise<Message | null> {
  for (;;) {
    const answer = await messages.answerTo(id);
    if (signal.aborted) return null;
    if (answer || Date.now() >= until) return answer;
    await new Promise((resolve) => setTimeout(resolve, Math.min(LOOK_MS, Math.max(1, until - Date.now()))));
  }
}
