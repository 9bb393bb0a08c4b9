import { z } from 'zod';
import type { EntryDraft } from '../../evidence/entry.ts';
import { findDraftProblems } from '../../evidence/entry-schema.ts';
import { isActivityEvent, readActivityEvent, toActivityEvent } from '../../evidence/musn/activity.ts';
import { isMusnForm, readMusnForm } from '../../evidence/musn/entry-form.ts';
import { type Par, readReviewInEntry } from '../../evidence/patterns/par.ts';
import { summariseReviews } from '../../evidence/patterns/summarise-reviews.ts';
import type { EvidenceStore } from '../../ports/evidence-store.ts';
import { appendDrafts } from '../../session/append-drafts.ts';
import { makeTimeOrderedId } from '../../stores/time-ordered-id.ts';
import { ROLES_THAT_READ_ALL, ROLES_THAT_READ_SESSION } from '../access/tokens.ts';
import { readEachSession } from '../all-evidence.ts';
import { ApiError } from '../api-error.ts';
import { defineRoute, type HttpRoute } from '../http-route.ts';
import { readInTurns } from '../read-in-turns.ts';
import {
  InstantSchema,
  JsonFieldsSchema,
  NameSchema,
  PageLimitSchema,
  RootSchema,
  TimeLimitSchema,
  UnreadableSessionsSchema,
} from '../schemas.ts';

const ActivityEvent = JsonFieldsSchema.describe('An event of a MUSN activity log: `event/type`, `agent`, …');

const list = defineRoute('GET /v1/sessions/{session}/activity', {
  id: 'activity',
  summary: 'A session as events of an activity log, newest first, one page at a time. `events?form=activity` is live.',
  for: ROLES_THAT_READ_SESSION,
  query: z.strictObject({
    limit: PageLimitSchema.default(100),
    after: NameSchema.optional().describe('The `next` of the previous page.'),
  }),
  answer: z.object({ events: z.array(ActivityEvent), next: z.string().nullable() }),
  run: async ({ path: { session }, query: { limit, after }, services: { allEvidence } }) => {
    const { store } = await allEvidence.repositoryOf(session);
    const paging = after === undefined ? {} : { after };
    const page = await store.query({ sessionId: session, limit, ephemeral: true, ...paging });
    return { events: page.entries.map(({ entry }) => toActivityEvent(entry)), next: page.next };
  },
});

const append = defineRoute('POST /v1/sessions/{session}/activity', {
  id: 'appendActivity',
  summary:
    'Adds an event or an entry of another program. A session that hopgate wrote keeps it outside of its chain, as an ephemeral entry.',
  for: ['operator', 'session'],
  body: JsonFieldsSchema.describe('An activity event (`event/type`, `agent`, …) or an entry (`evidence/type`, …).'),
  status: 201,
  answer: z.object({ id: z.string(), at: InstantSchema, ephemeral: z.boolean() }),
  run: async ({ who, path: { session }, body, services: { allEvidence } }) => {
    const { store } = await allEvidence.repositoryOf(session);
    const defaults = { id: `m-${makeTimeOrderedId()}`, sessionId: session };
    const read = readForm(
      { ...(isActivityEvent(body) && body['at'] === undefined ? { at: new Date().toISOString() } : {}), ...body },
      defaults,
    );
    const own = (await allEvidence.rootOf(session)) !== null;
    const author = who.role === 'session' && own ? await agentOf(store, session) : read.author;
    const draft: EntryDraft = { ...read, author };
    if (draft.sessionId !== session)
      throw new ApiError('invalid-request', `the entry is of session ${draft.sessionId}`, 'Send it there.', 'body');
    const wrong = findDraftProblems(draft)[0];
    if (wrong)
      throw new ApiError('invalid-request', `${wrong.path}: ${wrong.message}`, 'Correct it.', `body.${wrong.path}`);
    if (own) await store.appendEphemeral(session, [draft]);
    else await appendDrafts(store, session, [draft], { holder: `http-${draft.id}` });
    return { id: draft.id, at: draft.at, ephemeral: own };
  },
});

function readForm(
  form: Parameters<typeof readActivityEvent>[0],
  defaults: { id: string; sessionId: string },
): EntryDraft {
  if (!isMusnForm(form)) return readActivityEvent(form, defaults);
  const read = readMusnForm(form, defaults);
  if (read.ok) return read.draft;
  const { path, message } = read.problems[0]!;
  throw new ApiError('invalid-request', `${path}: ${message}`, 'Correct it.', `body.${path}`);
}

async function agentOf(store: EvidenceStore, session: string): Promise<string> {
  for await (const { entry } of store.entries(session)) return entry.author;
  return 'unknown-agent';
}

async function parsOf(store: EvidenceStore, session: string, since = ''): Promise<readonly Par[]> {
  const found: Par[] = [];
  for await (const stored of readInTurns(store.entries(session))) {
    const review = stored.entry.at < since ? null : readReviewInEntry(stored);
    if (review) found.push(review);
  }
  return found;
}

const pars = defineRoute('GET /v1/sessions/{session}/pars', {
  id: 'pars',
  summary: 'The post-action reviews of a session, the oldest first.',
  for: ROLES_THAT_READ_SESSION,
  answer: z.object({ pars: z.array(JsonFieldsSchema) }),
  run: async ({ path: { session }, services: { allEvidence } }) => ({
    pars: await parsOf((await allEvidence.repositoryOf(session)).store, session),
  }),
});

const aggregate = defineRoute('GET /v1/pars', {
  id: 'aggregatePars',
  summary: 'All reviews added up: problems that recur, and patterns that helped.',
  for: ROLES_THAT_READ_ALL,
  query: z.strictObject({
    root: RootSchema.optional(),
    since: TimeLimitSchema.optional().describe('Only reviews since then, in ISO 8601 in UTC.'),
  }),
  answer: z.object({
    reviews: z.int(),
    wrong: z.array(JsonFieldsSchema),
    well: z.array(JsonFieldsSchema),
    suggestions: z.array(JsonFieldsSchema),
    patterns: z.array(JsonFieldsSchema),
    unreadable: UnreadableSessionsSchema,
  }),
  run: async ({ query: { root, since }, services: { allEvidence } }) => {
    const sessions = (await allEvidence.sessions(root)).filter(({ summary }) => summary.lastAt >= (since ?? ''));
    const { found, unreadable } = await readEachSession(sessions, ({ repository: { store }, summary }) =>
      parsOf(store, summary.sessionId, since),
    );
    return { ...summariseReviews(found.flat()), unreadable };
  },
});

export const ACTIVITY_ROUTES: readonly HttpRoute[] = [list, append, pars, aggregate];
