import { setImmediate } from 'node:timers/promises';
import type { WSContext } from 'hono/ws';
import type { EventWithCursor } from './follow-session.ts';

const encoder = new TextEncoder();

/** One event as a Server-Sent Event: its cursor, its type and its JSON on one line. */
const eventText = ({ event, cursor }: EventWithCursor): string =>
  `id: ${cursor}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

/**
 * Batches of events as an SSE body. The next batch is read when the connection has accepted the previous one. Other
 * requests run before each batch; otherwise the stores and a fast reader would keep the process busy.
 */
export async function* encodeSse(
  batches: AsyncIterable<readonly EventWithCursor[]>,
  onEnd: () => void,
): AsyncGenerator<Uint8Array> {
  try {
    yield encoder.encode(': hopgate\n\n');
    for await (const batch of batches) {
      await setImmediate();
      yield encoder.encode(batch.map(eventText).join('') || ':\n\n');
    }
  } finally {
    onEnd();
  }
}

/** Sends each event as one message. The next event is sent when the connection has accepted the previous one. */
export async function sendEventsToSocket(
  batches: AsyncGenerator<readonly EventWithCursor[]>,
  socket: WSContext,
): Promise<void> {
  const raw = socket.raw as { send(text: string, written: (error?: Error) => void): void };
  for await (const batch of batches) {
    await setImmediate();
    for (const { event, cursor } of batch) {
      const failed = await new Promise<Error | undefined>((resolve) =>
        raw.send(JSON.stringify({ cursor, event }), (error) => resolve(error)),
      );
      if (failed || socket.readyState !== 1) return;
    }
  }
  socket.close(1001, 'the server ends');
}
