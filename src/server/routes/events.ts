import { optional, z } from 'zod';
import { toActivityEvent } from '../../evidence/musn/activity.ts';
import { ROLES_THAT_READ_ALL, ROLES_THAT_READ_SESSION } from '../access/tokens.ts';
import { ApiError } from '../api-error.ts';
import { defineRoute, type HttpRoute, type RouteRequest } from '../http-route.ts';
import { followAllSessions, parseStreamCursor } from '../stream/follow-all.ts';
import { followSession } from '../stream/follow-session.ts';
import { makeSseResponse, type OpenedStream, openStreamLifetime, SSE_ANSWER_TYPE } from '../stream/sse-answer.ts';

const SessionQuery = z.strictObject({
  after: optional(z.string().regex(/^-?\d{1,15}$/)).describe(
    'The last `seq` that you have; without it, the stream begins with the first entry.',
  ),
  form: z
    .enum(['entry', 'frame', 'activity'])
    .default('entry')
    .describe('`data` is the entry itself, its frame for a page, or its event of an activity log.'),
});
const AllQuery = z.strictObject({
  after: z.string().max(20_000).optional().describe('The cursor of the last event that you have.'),
});

const SOCKET = {
  type: 'websocket',
  description: 'A WebSocket. Each message is `{ cursor, event }`, and `event` is a CloudEvent.',
} as const;

type SessionRequest = RouteRequest<{ readonly session: string }, typeof SessionQuery, undefined>;
type AllRequest = RouteRequest<object, typeof AllQuery, undefined>;

async function openSession(request: SessionRequest): Promise<OpenedStream> {
  const { services, header, query } = request;
  const { session } = request.path;
  const { store } = await services.allEvidence.repositoryOf(session);
  const last = header('last-event-id') ?? query.after ?? '-1';
  if (!/^-?\d{1,15}$/.test(last))
    throw new ApiError('invalid-request', 'Last-Event-ID is not a seq', 'Send the id of the last event.', 'header');
  const { end, ended } = openStreamLifetime(request);
  return {
    end,
    batches: followSession({
      store,
      feed: services.feed,
      sessionId: session,
      after: Math.max(-1, Number(last)),
      signal: ended,
      form: async (page) => {
        if (query.form === 'frame')
          return (await (await services.frames.of(session)).page(page[0]!.entry.seq, page.length)).frames;
        return page.map(({ entry }) => (query.form === 'activity' ? toActivityEvent(entry) : entry));
      },
    }),
  };
}

async function openAll(request: AllRequest): Promise<OpenedStream> {
  const { services, header, query } = request;
  const last = header('last-event-id') ?? query.after;
  const after = last === undefined ? null : parseStreamCursor(last);
  if (last !== undefined && after === null)
    throw new ApiError(
      'invalid-request',
      'Last-Event-ID, or "after", is not a cursor',
      'Send the id of the last event.',
      'header',
    );
  const { end, ended } = openStreamLifetime(request);
  return {
    end,
    batches: followAllSessions({ allEvidence: services.allEvidence, feed: services.feed, after, signal: ended }),
  };
}

const sessionEvents = defineRoute('GET /v1/sessions/{session}/events', {
  id: 'sessionEvents',
  summary: "A session's entries as events: those after a position, then new ones. Each `seq` comes exactly once.",
  for: ROLES_THAT_READ_SESSION,
  query: SessionQuery,
  answer: SSE_ANSWER_TYPE,
  run: async (request) => makeSseResponse(await openSession(request)),
});

const sessionSocket = defineRoute('GET /v1/sessions/{session}/socket', {
  id: 'sessionSocket',
  summary: 'The same events over a WebSocket.',
  for: ROLES_THAT_READ_SESSION,
  query: SessionQuery,
  answer: SOCKET,
  run: async (request) => (await openSession(request)).batches,
});

const allEvents = defineRoute('GET /v1/events', {
  id: 'allEvents',
  summary: 'The entries of all sessions as events: those after a cursor, then new ones.',
  for: ROLES_THAT_READ_ALL,
  query: AllQuery,
  answer: SSE_ANSWER_TYPE,
  run: async (request) => makeSseResponse(await openAll(request)),
});

const allSocket = defineRoute('GET /v1/socket', {
  id: 'allSocket',
  summary: 'The events of all sessions over a WebSocket.',
  for: ROLES_THAT_READ_ALL,
  query: AllQuery,
  answer: SOCKET,
  run: async (request) => (await openAll(request)).batches,
});

export const EVENT_ROUTES: readonly HttpRoute[] = [sessionEvents, sessionSocket, allEvents, allSocket];
