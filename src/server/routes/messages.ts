import { hash, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { sendBell, sendWhistle } from '../../messages/send-message.ts';
import type { Message, MessageStore } from '../../ports/message-store.ts';
import { ROLES_THAT_READ_ALL } from '../access/tokens.ts';
import type { EvidenceOfAllRepositories, RepositoryEvidence } from '../all-evidence.ts';
import { ApiError } from '../api-error.ts';
import { defineRoute, type HttpRoute } from '../http-route.ts';
import { followInbox } from '../messages/follow-inbox.ts';
import {
  AnswerBodySchema,
  BellBodySchema,
  IDEMPOTENCY_HEADER,
  InboxLimitSchema,
  MessageSchema,
  PersonNameSchema,
  StoredMessageSchema,
  UnreadOnlySchema,
  WhistleAnsweredSchema,
  WhistleBodySchema,
} from '../messages/message-schemas.ts';
import {
  apiErrorOfMessage,
  checkPersonDraft,
  findMessage,
  messageStoreOf,
  noAnswerInTimeResponse,
  readMessageWithReceipts,
  unknownMessageError,
} from '../messages/person-messages.ts';
import { RootSchema } from '../schemas.ts';
import { formatStreamCursor, parseStreamCursor, type StreamPositionByRepository } from '../stream/follow-all.ts';
import { makeSseResponse, openStreamLifetime, SSE_ANSWER_TYPE } from '../stream/sse-answer.ts';

/** The holder of the operator's token acts as a person. */
const PEOPLE = ['operator'] as const;

const Root = RootSchema.optional().describe('The absolute path of the repository. Left out: all of them.');
const After = z.string().max(20_000).optional().describe('The cursor of the last message that you have.');

/** The positions that a cursor names; none without a cursor. @throws ApiError `invalid-request` */
function positionsOf(cursor: string | undefined, path: string): StreamPositionByRepository {
  const positions = cursor === undefined ? new Map() : parseStreamCursor(cursor);
  if (positions) return positions;
  throw new ApiError('invalid-request', 'this is not a cursor', 'Send the cursor of an answer or an event.', path);
}

const inbox = defineRoute('GET /v1/inbox', {
  id: 'inbox',
  summary: "A person's messages from every repository, each inbox in its own order, in pages.",
  for: ROLES_THAT_READ_ALL,
  query: z.strictObject({
    as: PersonNameSchema,
    root: Root,
    unread: UnreadOnlySchema,
    waiting: z.enum(['true', 'false']).default('false').describe('Only whistles whose senders wait.'),
    after: After,
    limit: InboxLimitSchema,
  }),
  answer: z.object({
    messages: z.array(
      MessageSchema.extend({
        waits: z.boolean().describe('True while the sender of a whistle waits for the answer.'),
        root: z.string().nullable().describe('The repository.'),
      }),
    ),
    cursor: z.string().describe('The position after the last message of this page; the stream continues from here.'),
    more: z.boolean().describe('True if the next page has messages.'),
    unread: z.int().describe('How many messages of these inboxes were not read.'),
  }),
  run: async ({ query, services: { allEvidence } }) => {
    const { as, root, unread, limit } = query;
    const positions = positionsOf(query.after, 'query.after');
    const address = `person:${as}`;
    const found: (Message & { readonly waits: boolean; readonly root: string | null; readonly key: string })[] = [];
    let count = 0;
    for (const repository of allEvidence.repositoriesOf(root)) {
      const { key } = repository;
      const messages = messageStoreOf(repository);
      count += await messages.countUnread(address);
      if (found.length > limit) continue;
      const after = positions.get(key) ?? 0;
      const waits = (await messages.waits(Date.now())).filter(({ target }) => target === address);
      const waiting = new Set(waits.map(({ id }) => id));
      const page =
        query.waiting === 'true'
          ? await findEach(messages, waiting, (one) => one.seq > after && !(unread === 'true' && isRead(one)))
          : await messages.inbox(address, { after, unread: unread === 'true', limit: limit + 1 - found.length });
      if (page.length === 0) continue;
      const at = await rootOf(repository, allEvidence);
      found.push(...page.map((message) => ({ ...message, waits: waiting.has(message.id), root: at, key })));
    }
    const messages = found.slice(0, limit);
    for (const { key, seq } of messages) positions.set(key, seq);
    return {
      messages: messages.map(({ key: _, ...message }) => message),
      cursor: formatStreamCursor(positions),
      more: found.length > limit,
      unread: count,
    };
  },
});

const isRead = ({ state }: Message): boolean => state === 'read' || state === 'answered';

/** The messages with these ids that `admits` accepts, in the order of the inbox. */
async function findEach(
  messages: MessageStore,
  ids: ReadonlySet<string>,
  admits: (message: Message) => boolean,
): Promise<readonly Message[]> {
  const found = await Promise.all([...ids].map((id) => messages.find(id)));
  return found
    .filter((message) => message !== null)
    .filter(admits)
    .sort((a, b) => a.seq - b.seq);
}

/** The root of a repository, from its newest session that hopgate recorded; null without one. */
async function rootOf({ store }: RepositoryEvidence, allEvidence: EvidenceOfAllRepositories): Promise<string | null> {
  for (const { sessionId } of await store.sessions()) {
    const root = await allEvidence.rootOf(sessionId);
    if (root !== null) return root;
  }
  return null;
}

const inboxEvents = defineRoute('GET /v1/inbox/events', {
  id: 'inboxEvents',
  summary: "A person's messages as events (dev.hopgate.message.v1): those after a position, then new ones.",
  for: ROLES_THAT_READ_ALL,
  query: z.strictObject({ as: PersonNameSchema, root: Root, unread: UnreadOnlySchema, after: After }),
  answer: SSE_ANSWER_TYPE,
  run: async (request) => {
    const { query, services, header } = request;
    const positions = positionsOf(header('last-event-id') ?? query.after, 'query.after');
    const { end, ended } = openStreamLifetime(request);
    const followed = {
      address: `person:${query.as}`,
      repositories: () => services.allEvidence.repositoriesOf(query.root),
      unread: query.unread === 'true',
      signal: ended,
    };
    return makeSseResponse({ end, batches: followInbox(followed, positions) });
  },
});

/** The sender and the id of a person's message. The same idempotency key gives the same id. */
function senderOf(person: string, header: (name: string) => string | undefined) {
  const [from, key] = [`person:${person}`, header('idempotency-key')];
  const id = key === undefined ? randomUUID() : hash('sha256', `${from}\n${key}`).slice(0, 32);
  return { from, id: `m-${id}` };
}

const Sender = { as: PersonNameSchema, root: Root };

const bell = defineRoute('POST /v1/bell', {
  id: 'bell',
  summary: 'Sends a message as a person, and does not wait.',
  for: PEOPLE,
  body: BellBodySchema.extend(Sender),
  headers: IDEMPOTENCY_HEADER,
  status: 201,
  answer: MessageSchema,
  run: async ({ body, services: { allEvidence }, header }) => {
    const { as, root, ...post } = body;
    const message = { ...post, kind: 'bell', ...senderOf(as, header) } as const;
    const { messages, draft } = await checkPersonDraft(allEvidence.repositoriesOf(root), message);
    await messages.addPerson(as);
    return sendBell(messages, draft);
  },
});

const whistled = defineRoute('POST /v1/whistle', {
  id: 'whistle',
  summary:
    'Sends a message as a person, and waits for its answer. The deadline ends the wait, not the work: the answer is then 504 with `job`, the id of the message.',
  for: PEOPLE,
  body: WhistleBodySchema.extend(Sender),
  headers: IDEMPOTENCY_HEADER,
  answer: WhistleAnsweredSchema,
  run: async ({ body, services: { allEvidence }, header, signal }) => {
    const { as, root, seconds, ...post } = body;
    const message = { ...post, kind: 'whistle', ...senderOf(as, header) } as const;
    const { messages, draft } = await checkPersonDraft(allEvidence.repositoriesOf(root), message);
    await messages.addPerson(as);
    const result = await sendWhistle(messages, draft, { seconds, signal });
    if (!result.ok) throw apiErrorOfMessage(result);
    const { answer, waitedMs } = result;
    if (answer) await messages.mark(answer.id, 'read');
    const job = result.message.id;
    return answer ? { ok: true, job, answer, waitedMs } : noAnswerInTimeResponse(job, seconds);
  },
});

const message = defineRoute('GET /v1/messages/{message}', {
  id: 'message',
  summary: 'A message with its receipts and its answer; also the state of a whistle whose deadline has passed.',
  for: ROLES_THAT_READ_ALL,
  answer: StoredMessageSchema,
  run: async ({ path, services: { allEvidence } }) => {
    const found = await findMessage(allEvidence, path.message);
    return readMessageWithReceipts(found.messages, found.message);
  },
});

const answer = defineRoute('POST /v1/messages/{message}/answer', {
  id: 'answerMessage',
  summary: 'Answers a message as the person who got it.',
  for: PEOPLE,
  body: AnswerBodySchema,
  headers: IDEMPOTENCY_HEADER,
  status: 201,
  answer: MessageSchema,
  run: async ({ path, body: { as, text }, services: { allEvidence }, header }) => {
    const { message, repository } = await findMessage(allEvidence, path.message);
    const sender = senderOf(as, header);
    const reply = { kind: 'bell', act: 'answer', ...sender, to: message.from, ref: message.id, text } as const;
    const { messages, draft } = await checkPersonDraft([repository], reply);
    return sendBell(messages, draft);
  },
});

const read = defineRoute('POST /v1/messages/{message}/read', {
  id: 'readMessage',
  summary: 'Acknowledges a message as the person who got it.',
  for: PEOPLE,
  body: z.strictObject({ as: PersonNameSchema }),
  answer: MessageSchema,
  run: async ({ path, body: { as }, services: { allEvidence } }) => {
    const { message, messages } = await findMessage(allEvidence, path.message);
    if (message.to !== `person:${as}`) throw unknownMessageError(path.message);
    await messages.mark(message.id, 'read');
    return (await messages.find(message.id))!;
  },
});

export const MESSAGE_ROUTES: readonly HttpRoute[] = [inbox, inboxEvents, bell, whistled, message, answer, read];
