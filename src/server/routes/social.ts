import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { idsWithSession } from '../../open-session.ts';
import { openProject } from '../../project/open-project.ts';
import { realRepositoryRoot } from '../../project/repository-root.ts';
import { readSocialOutcome } from '../../social/message-evidence.ts';
import { sendSocialMessage } from '../../social/pipeline.ts';
import type { IncomingMessage, SenderConnection, SocialServices } from '../../social/pipeline-types.ts';
import { RECEIPT_STATES } from '../../spec/policy/receipt-states.ts';
import { ROLES_THAT_READ_ALL } from '../access/tokens.ts';
import type { RepositoryEvidence } from '../all-evidence.ts';
import { defineRoute, type HttpRoute } from '../http-route.ts';
import { PersonNameSchema } from '../messages/message-schemas.ts';
import { findMessage, messageStoreOf, unknownMessageError } from '../messages/person-messages.ts';
import { JsonSchema, NameSchema, RootSchema } from '../schemas.ts';
import type { ServerServices } from '../services.ts';
import { withHostedSession } from './use-session.ts';

const Body = {
  id: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('The id of the message; a request with the same id never sends it again.'),
  payload: JsonSchema.describe('A text, or a typed payload such as { "type": "handoff" }.'),
};
const To = NameSchema.optional().describe(
  'session:<id>, agent:<id> or person:<name>. Left out: a session is opened in the first mode.',
);
const Outcome = z.object({
  type: z.enum(['task-submission', 'coordination-complete', 'coordination-failed']),
  valid: z.boolean(),
  state: z.enum(RECEIPT_STATES).nullable().describe('The last receipt of the message.'),
});
const Subject = z.object({ type: z.string(), id: z.string() });
const Answer = z.discriminatedUnion('ok', [
  z.object({
    ok: z.literal(true),
    message: z.string(),
    from: z.string(),
    to: z.string(),
    seq: z.int(),
    talk: z.enum(['coordination', 'action']),
    asks: z.string().describe('The effect that the message asks for.'),
    classifiedBy: z.string(),
    mode: z.string().nullable().describe('The mode of the recipient that gated the message.'),
    opened: z.boolean().describe('True if a session was opened for the message.'),
    subject: Subject,
    outcome: Outcome,
  }),
  z.object({
    ok: z.literal(false),
    message: z.string(),
    stage: z.string(),
    code: z.string(),
    reason: z.string(),
    remedy: z.string(),
    to: z.string().nullable(),
    subject: Subject,
  }),
]);

async function sendThrough(
  { counters }: ServerServices,
  { store }: RepositoryEvidence,
  messages: ReturnType<typeof messageStoreOf>,
  connection: SenderConnection,
  incoming: IncomingMessage,
  more: Pick<SocialServices, 'opener' | 'ringAs'>,
) {
  const result = await sendSocialMessage({ store, messages, now: Date.now, ...more }, connection, incoming);
  if (!result.ok) counters.denials++;
  return result;
}

const send = defineRoute('POST /v1/send', {
  id: 'send',
  summary: 'Sends a message of a person through the social pipeline: the mode of its recipient gates an action.',
  for: ['operator'],
  body: z.strictObject({ ...Body, to: To, as: PersonNameSchema, root: RootSchema }),
  answer: Answer,
  run: async ({ body: { id, to, payload, as, root }, services }) => {
    const real = realRepositoryRoot(root);
    const repository = services.allEvidence.repositoriesOf(real)[0] ?? services.allEvidence.createRepository(real);
    return sendThrough(
      services,
      repository,
      messageStoreOf(repository),
      { transport: 'http', principal: 'operator', name: as },
      { id: id ?? `m-${randomUUID()}`, to: to ?? null, payload },
      {
        opener: {
          root: real,
          readModeGate: async () => (await openProject(real, services.env)).specs.modeGate,
          open: (id) => services.host.sessions.open(real, 'unassigned', idsWithSession(id)),
        },
      },
    );
  },
});

const sendAsSession = defineRoute('POST /v1/sessions/{session}/send', {
  id: 'sendAsSession',
  summary:
    'Sends a message of the agent of this session through the social pipeline; the session itself must allow the tool bell.',
  for: ['session'],
  body: z.strictObject({ ...Body, to: NameSchema.describe('session:<id>, agent:<id> or person:<name>.') }),
  answer: Answer,
  run: async ({ path: { session }, body: { id, to, payload }, services }) => {
    const repository = await services.allEvidence.repositoryOf(session);
    const connection = { transport: 'http' as const, principal: 'agent' as const, name: session };
    const incoming = { id: id ?? `m-${randomUUID()}`, to, payload };
    return sendThrough(services, repository, messageStoreOf(repository), connection, incoming, {
      opener: null,
      ringAs: (from, { id: messageId, to: address, text, act }) =>
        withHostedSession(services, from, 'a message', (at) =>
          at.step({ tool: 'bell', args: { to: address, text, act }, messageId }),
        ),
    });
  },
});

const outcome = defineRoute('GET /v1/messages/{message}/outcome', {
  id: 'messageOutcome',
  summary: 'The outcome of a message that the social pipeline dispatched.',
  for: ROLES_THAT_READ_ALL,
  answer: Outcome,
  run: async ({ path, services: { allEvidence } }) => {
    const { messages, repository } = await findMessage(allEvidence, path.message);
    const found = await readSocialOutcome(repository.store, messages, path.message);
    if (!found) throw unknownMessageError(path.message);
    return found;
  },
});

export const SOCIAL_ROUTES: readonly HttpRoute[] = [send, sendAsSession, outcome];
