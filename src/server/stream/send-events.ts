import { setImmediate } from 'node:timers/promises';
import type { WSContext } from 'hono/ws';
import type { EventWithCursor } from './follow-session.ts';

const encoder = new TextEncoder();

/** One event as a Server-Sent Event: its cursor, its type and its JSON on one line. */
const eventText = ({ event, cursor }: EventWithCursor): string =>
  `id: ${cursor}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

/**
 * Batches of events as an SSE body. The next batch is read when the connection has accepted the previous one. Other
 * requests run in between: the stores and a fast reader make nobody wait for the system.
 */
export function makeSseBody(
  batches: AsyncGenerator<readonly EventWithCursor[]>,
  onEnd: () => void,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => controller.enqueue(encoder.encode(': hopgate\n\n')),
      async pull(controller) {
        try {
          await setImmediate();
          const { value, done } = await batches.next();
          if (!done)
            return controller.enqueue(encoder.encode(value.length === 0 ? ':\n\n' : value.map(eventText).join('')));
          onEnd();
          controller.close();
        } catch (error) {
          onEnd();
          controller.error(error);
        }
      },
      cancel: onEnd,
    },
    { highWaterMark: 0 },
  );
}

/** Sends each event as one message. The next one is sent when the connection has accepted the previous one. */
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
