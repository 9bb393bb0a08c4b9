import type { RouteRequest } from '../http-route.ts';
import { openStream } from '../services.ts';
import type { SentEvent } from './follow.ts';
import { sseBody } from './send-events.ts';

/** An open stream: its batches, and the function that ends it. */
export interface OpenedStream {
  readonly batches: AsyncGenerator<readonly SentEvent[]>;
  readonly end: () => void;
}

export const SSE = {
  type: 'text/event-stream',
  description:
    'Server-Sent Events. `data` is a CloudEvent; `id` is the cursor, which a client sends back as Last-Event-ID.',
} as const;

/** Counts an open stream until its client leaves or the server ends. */
export function countStream({
  services,
  signal,
  who,
}: Pick<RouteRequest<undefined, undefined, undefined>, 'services' | 'signal' | 'who'>): {
  readonly end: () => void;
  readonly ended: AbortSignal;
} {
  const release = openStream(services, who);
  const own = new AbortController();
  const end = (): void => {
    release();
    own.abort();
  };
  signal.addEventListener('abort', end);
  return { end, ended: own.signal };
}

export const sseAnswer = ({ batches, end }: OpenedStream): Response =>
  new Response(sseBody(batches, end), {
    headers: { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' },
  });
