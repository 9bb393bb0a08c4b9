import { optional, z } from 'zod';
import { approvalRows, approvalTitle } from '../../gate/approvals/approval-rows.ts';
import { describeGrantLimits } from '../../gate/approvals/grant.ts';
import { answerIfUnanswered } from '../../operator/answer-request.ts';
import { type GrantTerms, MAX_GRANT_MINUTES, toGrantLimits } from '../../operator/grant-terms.ts';
import { ensureOperatorToken } from '../../operator/operator-token.ts';
import { listPendingItems, type PendingItem } from '../../operator/pending-items.ts';
import { diffOfWorkingTree } from '../../tools/tree/tree-diff.ts';
import { ROLES_THAT_READ_ALL } from '../access/tokens.ts';
import { ApiError } from '../api-error.ts';
import { ApprovalCardSchema, makeApprovalCard } from '../approval-card-schema.ts';
import { defineRoute, type HttpRoute } from '../http-route.ts';
import { HashSchema, JsonFieldsSchema, MillisSchema } from '../schemas.ts';
import type { ServerServices } from '../services.ts';

const GivenAnswer = z.object({ verdict: z.enum(['yes', 'no']), by: z.string(), until: MillisSchema });
const WaitingRequest = z.object({
  id: z.string().describe('Six letters and digits.'),
  session: z.string(),
  agent: z.string(),
  root: z.string(),
  title: z.string().describe('What the agent asks for, in a few words.'),
  reason: z.string().describe("The agent's words."),
  rows: z.array(z.tuple([z.string(), z.string()])).describe('Title and text of each part that a yes approves.'),
  askedAt: MillisSchema,
  expiresAt: MillisSchema,
  hash: HashSchema.describe('The sha256 of the request; a yes is valid only for the request with this hash.'),
  answer: GivenAnswer.nullable().describe('The answer that the agent has not used yet; null before there is one.'),
});
const pendingInAll = ({ allEvidence }: ServerServices): readonly PendingItem[] =>
  allEvidence
    .repositories()
    .flatMap(({ stateDir }) => listPendingItems(stateDir))
    .sort((a, b) => a.pending.askedAt - b.pending.askedAt);

function findPendingItem(services: ServerServices, id: string): PendingItem {
  const items = pendingInAll(services).filter(({ pending }) => pending.id === id);
  if (items.length === 1) return items[0]!;
  throw new ApiError(
    'unknown-request',
    `no request "${id}" waits for an answer`,
    'It was used or has expired; list the others with GET /v1/approvals.',
  );
}

function pendingJson({ pending, answer }: PendingItem): z.output<typeof WaitingRequest> {
  const { id, root, askedAt, expiresAt, request } = pending;
  return {
    id,
    session: request.sessionId,
    agent: request.agent,
    root,
    title: approvalTitle(request),
    reason: request.reason,
    rows: approvalRows(request).map(([title, text]) => [title, text]),
    askedAt,
    expiresAt,
    hash: request.hash,
    answer: answer && { verdict: answer.verdict, by: answer.by, until: answer.expiresAt },
  };
}

const list = defineRoute('GET /v1/approvals', {
  id: 'listApprovals',
  summary: 'The requests that wait for the operator, of all sessions, the oldest first.',
  for: ROLES_THAT_READ_ALL,
  answer: z.object({ approvals: z.array(WaitingRequest) }),
  run: async ({ services }) => ({ approvals: pendingInAll(services).map(pendingJson) }),
});

const show = defineRoute('GET /v1/approvals/{approval}', {
  id: 'approval',
  summary: 'One request in full, with the present diff of the files that a yes ships.',
  for: ROLES_THAT_READ_ALL,
  answer: WaitingRequest.extend({
    view: JsonFieldsSchema.describe('Everything that the hash covers.'),
    writable: z.array(z.string()).describe('The paths that the peripheral of the agent may write.'),
    diff: z
      .object({
        lines: z.array(z.string()).describe('A diff in the form of git; masked files have no content.'),
        changedSince: z.array(z.string()).describe("Files that were changed after the session's last change of them."),
        ofShipped: z.boolean().describe('True if the diff covers exactly the files that would be committed.'),
        problem: z.string().nullable().describe('The reason why the diff is incomplete; null if it is complete.'),
      })
      .nullable(),
    card: ApprovalCardSchema.describe('A summary of the request for the person who answers it.'),
  }),
  run: async ({ path, services }) => {
    const item = findPendingItem(services, path.approval);
    const { request, root } = item.pending;
    const { allEvidence } = services;
    const pin = await allEvidence.pinOf(request.sessionId);
    const { config, specs } = pin;
    const from = Object.hasOwn(specs.peripherals, request.action.from) ? specs.peripherals[request.action.from] : null;
    const isHop = request.action.kind === 'hop';
    const diff = isHop ? await diffOfWorkingTree(root, request, config.mask) : null;
    const { store } = await allEvidence.repositoryOf(request.sessionId);
    return {
      ...pendingJson(item),
      view: request.view,
      writable: config.scopes[request.action.from] ?? from?.scope.rule.write ?? [],
      diff,
      card: await makeApprovalCard(request, pin, diff, store),
    };
  },
});

const answer = defineRoute('POST /v1/approvals/{approval}', {
  id: 'answerApproval',
  summary: 'Answers a request once. The agent finds the answer when it repeats its call.',
  for: ['operator'],
  body: z.strictObject({
    verdict: z.enum(['yes', 'no']),
    hash: HashSchema.describe('The `hash` of the request as it was shown: a yes is for what a person read.'),
    by: z
      .string()
      .regex(/^[\p{L}\p{N}][\p{L}\p{N} ._@+-]{0,99}$/u)
      .default('operator')
      .describe('The name of the person, for the evidence.'),
    minutes: z.number().min(1).max(1440).default(60).describe('How long an unused yes is valid.'),
    reason: z.string().max(2_000).optional().describe('With a no: words for the agent.'),
    grant: optional(
      z.strictObject({
        times: z
          .int()
          .min(1)
          .max(1000)
          .optional()
          .describe('The number of requests that the grant covers, including this one.'),
        minutes: z.number().min(1).max(MAX_GRANT_MINUTES).optional().describe('Default: 60.'),
        files: optional(z.union([z.literal(true), z.array(z.string().min(1).max(1000)).min(1).max(1000)])).describe(
          'The grant ends when a file outside of these paths changes; true: outside of the files that are changed now.',
        ),
        testsPass: z.boolean().optional().describe('The grant ends when a run of the tests does not pass.'),
      }),
    ).describe('With a yes: later requests of the same action are covered too, until the first limit is reached.'),
  }),
  answer: z.object({
    id: z.string(),
    verdict: z.enum(['yes', 'no']),
    by: z.string(),
    until: MillisSchema,
    grant: z.string().optional().describe('The limits of the grant in words.'),
  }),
  run: async ({ path, body, services }) => {
    const { stateDir, pending } = findPendingItem(services, path.approval);
    const { id, request } = pending;
    if (body.hash !== request.hash)
      throw new ApiError('invalid-request', 'the request has changed', 'Read it again.', 'body.hash');
    const { reason, hash: _, grant: terms, ...answer } = body;
    const grant =
      terms && body.verdict === 'yes' ? toGrantLimits(withoutUndefined(terms), request, Date.now()) : undefined;
    if (grant && 'problem' in grant)
      throw new ApiError('invalid-request', grant.problem, 'Change the limits of the grant.', 'body.grant');
    const refusal = body.verdict === 'no' && reason !== undefined ? { reason } : {};
    const done = answerIfUnanswered(
      stateDir,
      pending,
      { ...answer, ...refusal, ...(grant ? { grant } : {}) },
      ensureOperatorToken(stateDir),
    );
    if (!done)
      throw new ApiError(
        'unknown-request',
        `request ${id} no longer waits for an answer`,
        'List the others with GET /v1/approvals.',
      );
    if ('earlier' in done)
      throw new ApiError(
        'already-answered',
        `${done.earlier.by} has answered ${id} with ${done.earlier.verdict}`,
        'Nothing to do: the first answer counts. To replace it, use "hopgate approve".',
      );
    const { verdict, by, expiresAt } = done.answer;
    return { id, verdict, by, until: expiresAt, ...(grant ? { grant: describeGrantLimits(grant) } : {}) };
  },
});

const withoutUndefined = (terms: { [name in keyof GrantTerms]: GrantTerms[name] | undefined }): GrantTerms =>
  Object.fromEntries(Object.entries(terms).filter(([, value]) => value !== undefined));

export const APPROVAL_ROUTES: readonly HttpRoute[] = [list, show, answer];
