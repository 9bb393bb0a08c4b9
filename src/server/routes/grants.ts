import { z } from 'zod';
import { approvalTitle } from '../../gate/approvals/approval-rows.ts';
import { describeGrantLimits } from '../../gate/approvals/grant.ts';
import { revokeGrant } from '../../operator/revoked-grants.ts';
import { ROLES_THAT_READ_ALL } from '../access/tokens.ts';
import { ApiError } from '../api-error.ts';
import { defineRoute, type HttpRoute } from '../http-route.ts';
import { type ListedGrant, type ListedGrants, listGrants } from '../list-grants.ts';
import { MillisSchema } from '../schemas.ts';
import type { ServerServices } from '../services.ts';

const Grant = z.object({
  id: z.string(),
  session: z.string(),
  agent: z.string(),
  by: z.string(),
  title: z.string().describe('What the grant allows, in a few words.'),
  limits: z.string().describe('The limits of the grant in words.'),
  givenAt: MillisSchema,
  until: MillisSchema,
  used: z.int(),
  over: z.string().nullable().describe('Why the grant covers no further request; null if it is valid.'),
});

const Unreadable = z
  .object({
    session: z.string(),
    grants: z.array(z.string()).describe('The ids that can be read.'),
    problem: z.string(),
  })
  .describe('A session with grants whose evidence was altered.');

const grantsOf = async ({ allEvidence, readers }: ServerServices): Promise<ListedGrants> => {
  const each = allEvidence
    .repositories()
    .map(({ store, stateDir }) => listGrants(store, stateDir, (session) => readers.read(session)));
  const lists = await Promise.all(each);
  const grants = lists.flatMap((list) => list.grants).sort((a, b) => b.grant.givenAt - a.grant.givenAt);
  return { grants, unreadable: lists.flatMap((list) => list.unreadable) };
};

const grantJson = ({ session, agent, grant, over }: ListedGrant): z.output<typeof Grant> => ({
  id: grant.id,
  session,
  agent,
  by: grant.by,
  title: approvalTitle(grant),
  limits: describeGrantLimits(grant.limits),
  givenAt: grant.givenAt,
  until: grant.limits.until,
  used: grant.used,
  over,
});

const list = defineRoute('GET /v1/grants', {
  id: 'listGrants',
  summary: 'The grants of the operator in all sessions, the latest first; also those that have ended.',
  for: ROLES_THAT_READ_ALL,
  answer: z.object({ grants: z.array(Grant), unreadable: z.array(Unreadable) }),
  run: async ({ services }) => {
    const { grants, unreadable } = await grantsOf(services);
    return {
      grants: grants.map(grantJson),
      unreadable: unreadable.map(({ session, grants: ids, problem }) => ({ session, grants: [...ids], problem })),
    };
  },
});

const revoke = defineRoute('POST /v1/grants/{grant}/revoke', {
  id: 'revokeGrant',
  summary: 'Revokes a grant immediately, in whichever process its session runs.',
  for: ['operator'],
  body: z.strictObject({ by: z.string().min(1).max(100).default('operator') }),
  answer: Grant.pick({ id: true, session: true, over: true }),
  run: async ({ path: { grant: id }, body, services }) => {
    const { grants, unreadable } = await grantsOf(services);
    const found = grants.find(({ grant }) => grant.id === id) ?? unreadable.find((one) => one.grants.includes(id));
    if (!found) throw new ApiError('unknown-grant', `there is no grant "${id}"`, 'List them with GET /v1/grants.');
    const over = 'over' in found ? found.over : null;
    if (over === null) revokeGrant(found.stateDir, id, body.by);
    return { id, session: found.session, over: over ?? `${body.by} revoked it` };
  },
});

export const GRANT_ROUTES: readonly HttpRoute[] = [list, revoke];
