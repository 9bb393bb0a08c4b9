import { z } from 'zod';
import { hasLiveLease } from '../../base/process-holder.ts';
import { ROLES_THAT_READ_ALL, ROLES_THAT_READ_SESSION } from '../access/tokens.ts';
import type { LocatedSession } from '../all-evidence.ts';
import { ApiError } from '../api-error.ts';
import { defineRoute, type HttpRoute } from '../http-route.ts';
import {
  AvailableActionsSchema,
  DenialSchema,
  InstantSchema,
  JsonFieldsSchema,
  JsonSchema,
  ModeSchema,
  NameSchema,
  PageLimitSchema,
  RootSchema,
  SessionStatusSchema,
  StartAnswerSchema,
} from '../schemas.ts';
import type { ServerServices } from '../services.ts';
import { withHostedSession } from './use-session.ts';

const Listed = z.object({
  session: z.string(),
  agent: z.string(),
  root: z.string().nullable().describe('The repository; null for foreign evidence and erased sessions.'),
  openedAt: InstantSchema,
  lastAt: InstantSchema,
  entries: z.int(),
  seq: z.int().describe('The `seq` of the last entry.'),
  closed: z.boolean(),
  inUse: z.boolean().describe('True if a running program writes the session.'),
  peripheral: z.string().nullable(),
  mode: ModeSchema.nullable(),
  steps: z.int().nullable(),
  denials: z.int().nullable(),
});

/** A session in a list. Only an open session with intact evidence has a state (peripheral, mode, counters). */
async function sessionJson(
  { readers }: ServerServices,
  { summary, root }: LocatedSession,
): Promise<z.output<typeof Listed>> {
  const { sessionId, agent, openedAt, lastAt, entries, head, closed } = summary;
  const state = closed || root === null ? null : await readers.read(sessionId).catch(() => null);
  return {
    session: sessionId,
    agent,
    root,
    openedAt,
    lastAt,
    entries,
    seq: head.seq,
    closed,
    inUse: hasLiveLease(summary),
    peripheral: state?.status.peripheral ?? null,
    mode: state?.status.mode ?? null,
    steps: state?.status.steps ?? null,
    denials: state?.status.denials ?? null,
  };
}

const list = defineRoute('GET /v1/sessions', {
  id: 'listSessions',
  summary: 'The sessions of every process of this user, over all repositories, newest first.',
  for: ROLES_THAT_READ_ALL,
  query: z.strictObject({
    root: RootSchema.optional(),
    open: z.enum(['true', 'false']).optional().describe('Only open sessions, or only closed ones.'),
    limit: PageLimitSchema.default(100),
    after: NameSchema.optional().describe('The `next` of the previous page.'),
  }),
  answer: z.object({ sessions: z.array(Listed), next: z.string().nullable() }),
  run: async ({ query, services }) => {
    const { root, open, limit, after } = query;
    const all = (await services.allEvidence.sessions(root)).filter(
      ({ summary }) => open === undefined || summary.closed !== (open === 'true'),
    );
    const from = after === undefined ? 0 : all.findIndex(({ summary }) => summary.sessionId === after) + 1;
    if (after !== undefined && from === 0)
      throw new ApiError('invalid-request', '"after" names no session here', 'Leave out "after".', 'query.after');
    const page = all.slice(from, from + limit);
    return {
      sessions: await Promise.all(page.map((session) => sessionJson(services, session))),
      next: from + limit < all.length ? page.at(-1)!.summary.sessionId : null,
    };
  },
});

const open = defineRoute('POST /v1/sessions', {
  id: 'openSession',
  summary: 'Opens a session, and starts its first peripheral if one is named.',
  for: ['operator', 'agent'],
  body: z
    .strictObject({
      root: RootSchema,
      agent: z
        .string()
        .regex(/^[\w][\w.@+-]{0,99}$/)
        .describe('The name of the agent: the author of the entries.'),
      peripheral: NameSchema.optional(),
      context: JsonFieldsSchema.optional().describe('The context of the first peripheral.'),
    })
    .refine(({ peripheral, context }) => peripheral !== undefined || context === undefined, {
      path: ['context'],
      error: 'is only allowed with a peripheral',
    }),
  status: 201,
  answer: z.object({
    session: z.string(),
    token: z.string().describe('The token of the agent of this session. It works for this session only.'),
    status: SessionStatusSchema,
    start: StartAnswerSchema.nullable().describe('The answer to the start; null if no peripheral was named.'),
  }),
  run: async ({ body, services }) => {
    const { host, tokens, readers } = services;
    const { realRepositoryRoot } = await import('../../project/repository-root.ts');
    const session = await host.sessions.open(realRepositoryRoot(body.root), body.agent);
    const { peripheral, context } = body;
    const start =
      peripheral === undefined
        ? null
        : await withHostedSession(services, session, 'a start', (at) =>
            at.start(peripheral, context ? { context } : {}),
          );
    return { session, token: tokens.ofSession(session), status: (await readers.read(session)).status, start };
  },
});

const status = defineRoute('GET /v1/sessions/{session}', {
  id: 'sessionStatus',
  summary: 'The state of the session: peripheral, mode, visit, backpack, fruits, counters.',
  for: ROLES_THAT_READ_SESSION,
  answer: SessionStatusSchema,
  run: async ({ path, services: { readers } }) => (await readers.read(path.session)).status,
});

const available = defineRoute('GET /v1/sessions/{session}/available', {
  id: 'available',
  summary: 'The tools, hops and modes that are open now, and what each hop and mode still needs.',
  for: ROLES_THAT_READ_SESSION,
  answer: AvailableActionsSchema,
  run: async ({ path, services: { readers } }) => (await readers.read(path.session)).available,
});

const why = defineRoute('POST /v1/sessions/{session}/why', {
  id: 'why',
  summary: 'The denial that a call would get. Nothing is recorded, and nothing runs.',
  for: ROLES_THAT_READ_SESSION,
  body: z.strictObject({ tool: NameSchema, args: JsonSchema.optional() }),
  answer: z.object({ allowed: z.boolean(), denial: DenialSchema.nullable() }),
  run: async ({ path, body, services: { readers } }) => {
    const denial = (await readers.read(path.session)).why({ kind: 'step', tool: body.tool, args: body.args ?? {} });
    return { allowed: denial === null, denial };
  },
});

const token = defineRoute('POST /v1/sessions/{session}/token', {
  id: 'sessionToken',
  summary: "The token of a session's agent, for a program that continues the session.",
  for: ['operator'],
  answer: z.object({ token: z.string() }),
  run: async ({ path, services: { allEvidence, tokens } }) => {
    await allEvidence.ownSession(path.session);
    return { token: tokens.ofSession(path.session) };
  },
});

export const SESSION_ROUTES: readonly HttpRoute[] = [list, open, status, available, why, token];
