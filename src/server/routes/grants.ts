import { z } from 'zod';
import { approvalTitle } from '../../gate/approvals/approval-rows.ts';
import { describeGrantLimits, type GrantView, grantEndReason } from '../../gate/approvals/grant.ts';
import { revokeGrant, whoRevokedGrant } from '../../operator/revoked-grants.ts';
import { idsOfSessionsWithGrants } from '../../session/grants-in.ts';
import { ROLES_THAT_READ_ALL } from '../access/tokens.ts';
import { ApiError } from '../api-error.ts';
import { defineRoute, type HttpRoute } from '../http-route.ts';
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

interface FoundGrant {
  readonly stateDir: string;
  readonly session: string;
  readonly agent: string;
  readonly grant: GrantView;
  readonly over: string | null;
}

async function grantsOf({ allEvidence, readers }: ServerServices): Promise<readonly FoundGrant[]> {
  const all: FoundGrant[] = [];
  for (const { store, stateDir } of allEvidence.repositories())
    for (const session of await idsOfSessionsWithGrants(store)) {
      const { view } = await readers.read(session);
      for (const grant of view.grants ?? []) {
        const by = whoRevokedGrant(stateDir, grant.id);
        const over =
          grantEndReason(grant, Date.now()) ??
          (by === null ? null : `${by} revoked it`) ??
          (view.closed ? 'the session is closed' : null);
        all.push({ stateDir, session, agent: view.agent, grant, over });
      }
    }
  return all.sort((a, b) => b.grant.givenAt - a.grant.givenAt);
}

const grantJson = ({ session, agent, grant, over }: FoundGrant): z.output<typeof Grant> => ({
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
  answer: z.object({ grants: z.array(Grant) }),
  run: async ({ services }) => ({ grants: (await grantsOf(services)).map(grantJson) }),
});

const revoke = defineRoute('POST /v1/grants/{grant}/revoke', {
  id: 'revokeGrant',
  summary: 'Revokes a grant at once, in whichever process its session runs.',
  for: ['operator'],
  body: z.strictObject({ by: z.string().min(1).max(100).default('operator') }),
  answer: Grant,
  run: async ({ path, body, services }) => {
    const found = (await grantsOf(services)).find(({ grant }) => grant.id === path.grant);
    if (!found)
      throw new ApiError('unknown-grant', `there is no grant "${path.grant}"`, 'List them with GET /v1/grants.');
    if (found.over === null) revokeGrant(found.stateDir, found.grant.id, body.by);
    return grantJson({ ...found, over: found.over ?? `${body.by} revoked it` });
  },
});

export const GRANT_ROUTES: readonly HttpRoute[] = [list, revoke];
