import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { RUN_STATUS, type RunCode, replyStatus } from '../../agency/reply.ts';
import { RunRequest } from '../../agency/request.ts';
import { HEADERS } from '../../agency/transport.ts';
import { ApiError } from '../api-error.ts';
import { type HttpRoute, route } from '../route.ts';
import { addContext, checkCaller } from '../session-context.ts';

const Key = z.string().regex(/^[\w.:-]{1,200}$/);
const Meta = z.object({ 'agent-id': z.string(), 'duration-ms': z.int() });
const Reply = z.union([
  z.strictObject({ ok: z.literal(true), response: z.json(), meta: Meta }),
  z.strictObject({
    ok: z.literal(false),
    error: z.object({
      code: z.enum(Object.keys(RUN_STATUS) as [RunCode, ...RunCode[]]),
      message: z.string(),
      remedy: z.string(),
    }),
    meta: Meta,
  }),
]);

/** A header as a value of a schema. @throws ApiError `invalid-request` */
function headerAs<T>(name: string, value: string | undefined, schema: z.ZodType<T>): T | undefined {
  if (value === undefined) return undefined;
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  throw new ApiError(
    'invalid-request',
    `${name}: ${read.error.issues[0]!.message}`,
    `Correct the header ${name}.`,
    name,
  );
}

const Budget = z.coerce.number().min(0).max(86_400_000);
const Via = z
  .string()
  .max(2_000)
  .regex(/^[\w.-]+(?:,[\w.-]+)*$/);

const run = route('POST /agency/run', {
  id: 'agencyRun',
  summary: 'Runs an agent once in an agency peripheral, here or on the node that the registry names.',
  for: ['operator', 'agent', 'session', 'node'],
  body: RunRequest,
  headers: {
    [HEADERS.key]: 'Names the run: the same key never starts the agent again.',
    [HEADERS.budget]: 'Milliseconds that the caller waits. They end the wait, not the run.',
    [HEADERS.via]: 'The nodes that passed the run on, separated by commas.',
  },
  answer: Reply,
  run: async ({ body, who, services, header }) => {
    const key = headerAs(HEADERS.key, header(HEADERS.key), Key) ?? randomUUID();
    const budgetMs = headerAs(HEADERS.budget, header(HEADERS.budget), Budget) ?? null;
    const via = headerAs(HEADERS.via, header(HEADERS.via), Via)?.split(',') ?? [];
    await checkCaller(services, who, body, key);
    const reply = await services.agency.run(body, { key, budgetMs, via }, addContext(services));
    return Response.json(reply, { status: replyStatus(reply), headers: { [HEADERS.key]: key } });
  },
});

const cancel = route('POST /agency/cancel', {
  id: 'agencyCancel',
  summary: 'Cancels a run of this node, and the agent that it passed the run to.',
  for: ['operator', 'agent', 'node'],
  body: z.strictObject({ key: Key }),
  answer: z.object({ cancelled: z.boolean().describe('False if no such run works here.') }),
  run: async ({ body, services }) => ({ cancelled: services.agency.cancel(body.key) }),
});

const agents = route('GET /agency/agents', {
  id: 'agencyAgents',
  summary: 'The agents of the registry, and the nodes that are connected.',
  for: ['operator', 'auditor', 'agent', 'node'],
  answer: z.object({
    node: z.string(),
    agents: z.array(z.object({ id: z.string(), location: z.enum(['local', 'remote', 'dial-in']) })),
    connected: z.array(z.string()),
  }),
  run: async ({ services: { agency, dialIns } }) => ({
    node: agency.id,
    agents: Object.values(agency.spec().agents).map(({ id, location }) => ({ id, location })),
    connected: [...dialIns.connected],
  }),
});

const connect = route('GET /agency/connect', {
  id: 'agencyConnect',
  summary: 'Connects a node that cannot be reached, such as a laptop; its runs arrive on this connection.',
  for: ['node'],
  answer: { type: 'websocket', description: 'Frames: run, cancel (to the node), reply (from the node).' },
  run: async ({ who, services: { dialIns } }) => {
    if (who.role !== 'node') throw new ApiError('forbidden', 'only a node may connect', 'Use the token of a node.');
    const { node } = who;
    return {
      onOpen: (line: Parameters<typeof dialIns.connect>[1]) => dialIns.connect(node, line),
      onMessage: (text: string) => dialIns.receive(node, text),
      onClose: (line: Parameters<typeof dialIns.connect>[1]) => dialIns.disconnect(node, line),
    };
  },
});

export const AGENCY_ROUTES: readonly HttpRoute[] = [run, cancel, agents, connect];
