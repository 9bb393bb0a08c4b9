import { z } from 'zod';
import { CLAIM_TYPES, EVIDENCE_TYPES, SUBJECT_TYPES } from '../../evidence/entry.ts';
import type { EvidenceQuery, FoundEntry } from '../../evidence/evidence-query.ts';
import { buildThread, type Thread } from '../../evidence/threads.ts';
import { ROLES_THAT_READ_ALL, ROLES_THAT_READ_SESSION } from '../access/tokens.ts';
import { readEachSession } from '../all-evidence.ts';
import { ApiError } from '../api-error.ts';
import { defineRoute, type HttpRoute } from '../http-route.ts';
import { readInTurns } from '../read-in-turns.ts';
import {
  EntrySchema,
  EntrySeqSchema,
  JsonFieldsSchema,
  NameSchema,
  PageLimitSchema,
  RootSchema,
  TimeLimitSchema,
  UnreadableEntriesSchema,
  UnreadableSessionsSchema,
} from '../schemas.ts';
import { queryAllRepositories } from './query-all.ts';

const ofSession = defineRoute('GET /v1/sessions/{session}/evidence', {
  id: 'sessionEvidence',
  summary: "A session's entries in order of `seq`, one page at a time.",
  for: ROLES_THAT_READ_SESSION,
  query: z.strictObject({
    from: EntrySeqSchema.default(0).describe('The first `seq`.'),
    limit: PageLimitSchema.default(100),
  }),
  answer: z.object({
    entries: z.array(EntrySchema),
    next: z.int().nullable().describe('The `from` of the next page; null if this is the last.'),
  }),
  run: async ({ path, query: { from, limit }, services: { allEvidence } }) => {
    const { store } = await allEvidence.repositoryOf(path.session);
    const entries: FoundEntry['entry'][] = [];
    let next: number | null = null;
    for await (const { entry } of store.entries(path.session, { from })) {
      if (entries.length === limit) {
        next = entry.seq;
        break;
      }
      entries.push(entry);
    }
    return { entries, next };
  },
});

const Filters = {
  type: z.enum(EVIDENCE_TYPES).optional(),
  claim: z.enum(CLAIM_TYPES).optional(),
  author: NameSchema.optional(),
  peripheral: NameSchema.optional(),
  patternId: NameSchema.optional(),
  tag: NameSchema.optional().describe('A tag that each entry must have.'),
  subjectType: z.enum(SUBJECT_TYPES).optional().describe('With `subjectId`: the subject of each entry.'),
  subjectId: NameSchema.optional(),
  since: TimeLimitSchema.optional(),
  before: TimeLimitSchema.optional(),
  ephemeral: z.enum(['true', 'false']).optional().describe('Ephemeral entries, too.'),
  limit: PageLimitSchema.default(100),
  after: z.string().max(20_000).optional().describe('The `next` of the previous page of the same query.'),
};

const query = defineRoute('GET /v1/evidence', {
  id: 'queryEvidence',
  summary: 'A search over all sessions, or one; the newest entries come first.',
  for: ROLES_THAT_READ_ALL,
  query: z.strictObject({ ...Filters, session: NameSchema.optional(), root: RootSchema.optional() }),
  answer: z.object({ entries: z.array(EntrySchema), next: z.string().nullable(), unreadable: UnreadableEntriesSchema }),
  run: async ({ query: asked, services: { allEvidence } }) => {
    const { session, root, tag, subjectType, subjectId, ephemeral, after, ...filters } = asked;
    if ((subjectType === undefined) !== (subjectId === undefined))
      throw new ApiError('invalid-request', 'subjectType and subjectId go together', 'Give both.', 'query.subjectId');
    const present = Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined));
    const search = {
      ...present,
      ...(session === undefined ? {} : { sessionId: session }),
      ...(tag === undefined ? {} : { tags: [tag] }),
      ...(subjectType === undefined ? {} : { subject: { type: subjectType, id: subjectId! } }),
      ...(ephemeral === undefined ? {} : { ephemeral: ephemeral === 'true' }),
    } as EvidenceQuery;
    const repositories =
      session === undefined ? allEvidence.repositoriesOf(root) : [await allEvidence.repositoryOf(session)];
    const page = await queryAllRepositories(repositories, search, filters.limit, after);
    return { ...page, entries: page.entries.map(({ entry }) => entry) };
  },
});

const entryOf = defineRoute('GET /v1/sessions/{session}/entries/{entry}', {
  id: 'entry',
  summary: 'One entry, and the entries that it replies to, the oldest first.',
  for: ROLES_THAT_READ_SESSION,
  answer: z.object({ entry: EntrySchema, chain: z.array(EntrySchema) }),
  run: async ({ path, services: { allEvidence } }) => {
    const { store } = await allEvidence.repositoryOf(path.session);
    const chain = (await store.replyChain(path.entry)).map(({ entry }) => entry);
    // A reply chain may begin in another session, which this caller may not read.
    const own = chain.filter(({ sessionId }) => sessionId === path.session);
    const entry = chain.at(-1);
    if (!entry || entry.sessionId !== path.session)
      throw new ApiError('unknown-entry', `session ${path.session} has no entry "${path.entry}"`, 'Check the id.');
    return { entry, chain: own };
  },
});

interface ThreadForm {
  readonly [field: string]: unknown;
}

const ThreadAnswer = z
  .looseObject({
    id: z.string(),
    status: z.enum(['open', 'closed', 'stalled', 'forked']),
    count: z.int(),
    participants: z.array(z.string()),
    goal: z.string().describe('The id of the entry that begins the thread.'),
    entries: z.array(z.string()).describe('The ids of its entries in order of time: one page.'),
    next: z.int().nullable().describe('The `from` of the next page; null if this is the last.'),
    conjectures: z.array(z.object({ entry: z.string(), outcome: z.enum(['open', 'confirmed', 'refuted']) })),
    patterns: z.array(JsonFieldsSchema),
    forks: z.array(JsonFieldsSchema).describe('Threads of the same form, one for each entry that forks another.'),
  })
  .describe('The entries about one subject, as a tree of replies.');

const threadForm = (one: Thread, page: { readonly from: number; readonly limit: number }): ThreadForm => {
  const { id, status, count, participants, patterns } = one;
  const end = page.from + page.limit;
  return {
    id,
    status,
    count,
    participants,
    patterns,
    goal: one.goal.id,
    entries: one.entries.slice(page.from, end).map((entry) => entry.id),
    next: end < count ? end : null,
    conjectures: one.conjectures.map(({ entry, outcome }) => ({ entry: entry.id, outcome })),
    forks: one.forks.map((fork) => threadForm(fork, page)),
  };
};

const thread = defineRoute('GET /v1/sessions/{session}/thread', {
  id: 'thread',
  summary: 'The thread of a session: its status, its participants, conjectures, patterns and forks.',
  for: ROLES_THAT_READ_SESSION,
  query: z.strictObject({
    from: EntrySeqSchema.default(0).describe('The number of entries to skip.'),
    limit: PageLimitSchema.default(100),
  }),
  answer: ThreadAnswer,
  run: async ({ path: { session }, query: page, services: { allEvidence } }) => {
    const { store } = await allEvidence.repositoryOf(session);
    const entries = await Array.fromAsync(readInTurns(store.entries(session)), ({ entry }) => entry);
    const found = buildThread(entries, { type: 'session', id: session }, { now: Date.now() });
    if (!found)
      throw new ApiError('unknown-entry', `session ${session} has no goal, so it has no thread`, 'Read its evidence.');
    return threadForm(found, page);
  },
});

const threads = defineRoute('GET /v1/threads', {
  id: 'listThreads',
  summary: 'The threads of sessions, newest first, with their status.',
  for: ROLES_THAT_READ_ALL,
  query: z.strictObject({ root: RootSchema.optional(), limit: PageLimitSchema.default(20) }),
  answer: z.object({
    threads: z.array(
      z.object({ session: z.string(), status: z.string(), count: z.int(), participants: z.array(z.string()) }),
    ),
    unreadable: UnreadableSessionsSchema,
  }),
  run: async ({ query: { root, limit }, services: { allEvidence } }) => {
    const sessions = (await allEvidence.sessions(root)).slice(0, limit);
    const { found, unreadable } = await readEachSession(sessions, async ({ repository: { store }, summary }) => {
      const { sessionId } = summary;
      const entries = await Array.fromAsync(readInTurns(store.entries(sessionId)), ({ entry }) => entry);
      return buildThread(entries, { type: 'session', id: sessionId }, { now: Date.now() });
    });
    const threads = found.flatMap((one) =>
      one ? [{ session: one.subject.id, status: one.status, count: one.count, participants: one.participants }] : [],
    );
    return { threads, unreadable };
  },
});

const blob = defineRoute('GET /v1/sessions/{session}/blobs/{hash}', {
  id: 'blob',
  summary:
    'The bytes of a large value that an entry of this session names as `{ blob, bytes }`, or of the pin of the session.',
  for: ROLES_THAT_READ_SESSION,
  answer: { type: 'application/octet-stream', description: 'The bytes; their sha256 is the hash.' },
  run: async ({ path: { session, hash }, services: { allEvidence } }) => {
    const { store } = await allEvidence.repositoryOf(session);
    const { entries, sessions } = await store.blobReferences(hash);
    const isNamed = async (): Promise<boolean> => {
      if (sessions.includes(session)) return true;
      for (const id of entries) if ((await store.get(id))?.entry.sessionId === session) return true;
      return false;
    };
    const bytes = (await isNamed()) ? await store.getBlob(hash) : null;
    if (!bytes)
      throw new ApiError('not-found', `session ${session} names no blob ${hash}`, 'Take the hash from an entry.');
    return new Response(new Uint8Array(bytes), {
      headers: { 'Content-Type': 'application/octet-stream', 'Content-Disposition': 'attachment' },
    });
  },
});

export const EVIDENCE_ROUTES: readonly HttpRoute[] = [ofSession, query, entryOf, thread, threads, blob];
