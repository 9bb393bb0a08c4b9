import { setTimeout as sleep } from 'node:timers/promises';
import type { Message } from '../../ports/message-store.ts';
import type { RepositoryEvidence } from '../all-evidence.ts';
import { formatStreamCursor, type StreamPositionByRepository } from '../stream/follow-all.ts';
import { type EventWithCursor, KEEP_ALIVE_MS } from '../stream/follow-session.ts';
import { messageStoreOf } from './person-messages.ts';

/** Interval in milliseconds for polling the inboxes, because any process can send. */
const POLL_MS = 100;
/** Maximum number of messages of one inbox per read. */
const PAGE = 128;

interface FollowedInbox {
  readonly address: string;
  readonly repositories: () => readonly RepositoryEvidence[];
  readonly unread: boolean;
  readonly signal: AbortSignal;
  /** Makes the cursor of an event from the positions after it. Default: {@link formatStreamCursor}. */
  readonly cursor?: (positions: StreamPositionByRepository) => string;
}

/**
 * The messages to an address as events, in the order of each inbox: those after `positions`, then new ones as they
 * arrive. An empty batch is a keep-alive. `positions` has the last `seq` that the reader has of each repository; this
 * function updates it.
 */
export async function* followInbox(
  followed: FollowedInbox,
  positions: StreamPositionByRepository,
): AsyncGenerator<readonly EventWithCursor[]> {
  const { address, repositories, unread, signal, cursor = formatStreamCursor } = followed;
  let quietSince = Date.now();
  while (!signal.aborted) {
    const sent: EventWithCursor[] = [];
    for (const repository of repositories()) {
      const { key } = repository;
      const after = positions.get(key) ?? 0;
      const messages = await messageStoreOf(repository).inbox(address, { after, unread, limit: PAGE });
      for (const message of messages) {
        positions.set(key, message.seq);
        sent.push({ event: messageEvent(message), cursor: cursor(positions) });
      }
    }
    if (sent.length > 0 || Date.now() - quietSince >= KEEP_ALIVE_MS) {
      quietSince = Date.now();
      yield sent;
    } else await sleep(POLL_MS, undefined, { signal, ref: false }).catch(() => {});
  }
}

const messageEvent = (message: Message): EventWithCursor['event'] => ({
  specversion: '1.0',
  id: message.id,
  source: encodeURIComponent(message.to),
  type: 'dev.hopgate.message.v1',
  time: message.sentAt,
  datacontenttype: 'application/json',
  sequence: String(message.seq),
  data: message,
});
