import { z } from 'zod';
import type { Session } from '../../session/session.ts';
import type { Json } from '../../spec/types.ts';
import { ROLES_THAT_READ_SESSION } from '../access/tokens.ts';
import { ApiError } from '../api-error.ts';
import { defineRoute, type HttpRoute } from '../http-route.ts';
import { followInbox } from '../messages/follow-inbox.ts';
import {
  BellBodySchema,
  InboxLimitSchema,
  MessageSchema,
  SessionAnsweredSchema,
  SessionSentSchema,
  StoredMessageSchema,
  UnreadOnlySchema,
  WhistleBodySchema,
} from '../messages/message-schemas.ts';
import {
  findSenderOfMessage,
  messageStoreOf,
  noAnswerInTimeResponse,
  readMessageWithReceipts,
  unknownMessageError,
} from '../messages/person-messages.ts';
import { EntrySeqSchema, NameSchema } from '../schemas.ts';
import { makeSseResponse, openStreamLifetime, SSE_ANSWER_TYPE } from '../stream/sse-answer.ts';
import { withHostedSession } from './use-session.ts';

/** The role that may send and read as the session: its agent. */
const AGENT = ['session'] as const;

const addressOf = (session: string): string => `session:${session}`;

const inbox = defineRoute('GET /v1/sessions/{session}/inbox', {
  id: 'sessionInbox',
  summary: 'The messages of a session in the order of its inbox, in pages. Reading them acknowledges nothing.',
  for: ROLES_THAT_READ_SESSION,
  query: z.strictObject({
    unread: UnreadOnlySchema,
    after: EntrySeqSchema.default(0).describe('The last `seq` that you have.'),
    limit: InboxLimitSchema,
  }),
  answer: z.object({ messages: z.array(MessageSchema), more: z.boolean() }),
  run: async ({ path, query: { unread, after, limit }, services: { allEvidence } }) => {
    const messages = messageStoreOf(await allEvidence.repositoryOf(path.session));
    const page = await messages.inbox(addressOf(path.session), { after, unread: unread === 'true', limit: limit + 1 });
    return { messages: page.slice(0, limit), more: page.length > limit };
  },
});

const inboxEvents = defineRoute('GET /v1/sessions/{session}/inbox/events', {
  id: 'sessionInboxEvents',
  summary: 'The messages of a session as events (dev.hopgate.message.v1): those after a `seq`, then new ones.',
  for: ROLES_THAT_READ_SESSION,
  query: z.strictObject({
    unread: UnreadOnlySchema,
    after: EntrySeqSchema.default(0).describe('The last `seq` that you have.'),
  }),
  answer: SSE_ANSWER_TYPE,
  run: async (request) => {
    const { path, query, services, header } = request;
    const repository = await services.allEvidence.repositoryOf(path.session);
    const last = EntrySeqSchema.safeParse(header('last-event-id') ?? query.after);
    if (!last.success)
      throw new ApiError('invalid-request', 'Last-Event-ID is not a seq', 'Send the id of the last event.', 'header');
    const { end, ended } = openStreamLifetime(request);
    const followed = {
      address: addressOf(path.session),
      repositories: () => [repository],
      unread: query.unread === 'true',
      signal: ended,
      cursor: (positions: ReadonlyMap<string, number>) => String(positions.get(repository.key)),
    };
    return makeSseResponse({ end, batches: followInbox(followed, new Map([[repository.key, last.data]])) });
  },
});

const read = defineRoute('POST /v1/sessions/{session}/inbox/read', {
  id: 'readSessionMessages',
  summary:
    'Acknowledges messages: a request of the agent to its model has contained them. Both sessions get a receipt.',
  for: AGENT,
  body: z.strictObject({ messages: z.array(NameSchema).min(1).max(1_000).describe('Their ids.') }),
  answer: z.object({ ok: z.literal(true), unread: z.array(MessageSchema).describe('The messages that are left.') }),
  run: async ({ path, body, services }) =>
    withHostedSession(services, path.session, 'reading messages', async (session) => {
      await session.inbox();
      await session.acknowledge(body.messages);
      const left = await session.inbox();
      return { ok: true as const, unread: left.ok ? left.messages : [] };
    }),
});

type SentResult = { readonly message?: string; readonly waitedMs?: number; readonly answer?: { readonly id: string } };

/** Sends a message by a step of the session, so that the gate judges it and both sessions record it. */
async function send(session: Session, tool: 'bell' | 'whistle', args: object, signal: AbortSignal) {
  const present = Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined));
  const sent = await session.step({ tool, args: present as { [name: string]: Json }, signal });
  if (!sent.ok) return sent;
  const { message, waitedMs = 0, answer } = (sent.result ?? {}) as SentResult;
  if (sent.outcome !== 'ok' || message === undefined)
    throw new ApiError('failed', sent.error?.message ?? `${tool} failed`, 'Read the outcome in the evidence.');
  return { ok: true as const, id: message, waitedMs, answer: answer?.id ?? null, evidence: sent.evidence };
}

const bell = defineRoute('POST /v1/sessions/{session}/bell', {
  id: 'sessionBell',
  summary: 'Sends a message as the session, by its tool bell, and does not wait.',
  for: AGENT,
  body: BellBodySchema,
  answer: SessionSentSchema,
  run: async ({ path, body, services, signal }) => {
    const messages = messageStoreOf(await services.allEvidence.repositoryOf(path.session));
    const to = body.to ?? (await findSenderOfMessage(messages, body.ref)) ?? '';
    const sent = await withHostedSession(services, path.session, 'a bell', (session) =>
      send(session, 'bell', { ...body, to }, signal),
    );
    if (!sent.ok) return sent;
    return { ok: true, message: await messages.find(sent.id), evidence: sent.evidence };
  },
});

const whistle = defineRoute('POST /v1/sessions/{session}/whistle', {
  id: 'sessionWhistle',
  summary:
    'Sends a message as the session, by its tool whistle, and waits for its answer. The deadline ends the wait, not the work: the answer is then 504 with `job`, the id of the message.',
  for: AGENT,
  body: WhistleBodySchema,
  answer: SessionAnsweredSchema,
  run: async ({ path, body, services, signal }) => {
    const sent = await withHostedSession(services, path.session, 'a whistle', (session) =>
      send(session, 'whistle', body, signal),
    );
    if (!sent.ok) return sent;
    const { id, waitedMs, evidence } = sent;
    if (sent.answer === null)
      return noAnswerInTimeResponse(id, body.seconds, `/v1/sessions/${encodeURIComponent(path.session)}`, { evidence });
    const messages = messageStoreOf(await services.allEvidence.repositoryOf(path.session));
    return { ok: true, job: id, answer: await messages.find(sent.answer), waitedMs, evidence };
  },
});

const message = defineRoute('GET /v1/sessions/{session}/messages/{message}', {
  id: 'sessionMessage',
  summary: 'A message that the session sent or got, with its receipts and its answer.',
  for: ROLES_THAT_READ_SESSION,
  answer: StoredMessageSchema,
  run: async ({ path, services: { allEvidence } }) => {
    const messages = messageStoreOf(await allEvidence.repositoryOf(path.session));
    const found = await messages.find(path.message);
    if (!found || ![found.from, found.to].includes(addressOf(path.session))) throw unknownMessageError(path.message);
    return readMessageWithReceipts(messages, found);
  },
});

export const SESSION_MESSAGE_ROUTES: readonly HttpRoute[] = [inbox, inboxEvents, read, bell, whistle, message];
