import type { RouteRequest } from '../http-route.ts';
import { countOpenStream } from '../services.ts';
import type { EventWithCursor } from './follow-session.ts';
import { encodeSse } from './send-events.ts';

export interface OpenedStream {
  readonly batches: AsyncGenerator<readonly EventWithCursor[]>;
  readonly end: () => void;
}

export const SSE_ANSWER_TYPE = {
  type: 'text/event-stream',
  description:
    'Server-Sent Events. `data` is a CloudEvent; `id` is the cursor, which a client sends back as Last-Event-ID.',
} as const;

/** Counts a stream as open until `end` is called, its client leaves, or the server ends. `ended` is then aborted. */
export function openStreamLifetime({
  services,
  signal,
  who,
}: Pick<RouteRequest<undefined, undefined, undefined>, 'services' | 'signal' | 'who'>): {
  readonly end: () => void;
  readonly ended: AbortSignal;
} {
  const release = countOpenStream(services, who);
  const own = new AbortController();
  const end = (): void => {
    release();
    own.abort();
  };
  signal.addEventListener('abort', end);
  return { end, ended: own.signal };
}

export const makeSseResponse = ({ batches, end }: OpenedStream): Response =>
  new Response(ReadableStream.from(encodeSse(batches, end)), {
    headers: { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' },
  });
