import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { RUN_HTTP_STATUS, type RunErrorCode } from '../../agency/run-reply.ts';
import { RunRequest } from '../../agency/run-request.ts';
import { RUN_HEADER_NAMES } from '../../agency/send-run.ts';
import { parseJson } from '../../base/json.ts';
import type { Requester } from '../access/tokens.ts';
import { ApiError } from '../api-error.ts';
import { defineRoute, type HttpRoute } from '../http-route.ts';
import { MAIL_POLL_MS, MAIL_WAIT_MS, MailAnswerSchema } from '../messages/exchange-mail.ts';
import { NodeMailSchema, NodeNameSchema } from '../messages/mail-schema.ts';
import { type MailPositions, NO_MAIL_POSITIONS } from '../messages/node-mail.ts';
import { addSessionContext, checkRunRequester } from '../session-context.ts';

const Key = z.string().regex(/^[\w.:-]{1,200}$/);
const Meta = z.object({ 'agent-id': z.string(), 'duration-ms': z.int() });
const Reply = z.union([
  z.strictObject({ ok: z.literal(true), response: z.json(), meta: Meta }),
  z.strictObject({
    ok: z.literal(false),
    error: z.object({
      code: z.enum(Object.keys(RUN_HTTP_STATUS) as [RunErrorCode, ...RunErrorCode[]]),
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
  throw new ApiError('invalid-request', `${name}: ${read.error.issues[0]!.message}`, 'Correct this header.', name);
}

const Budget = z
  .string()
  .regex(/^\d{1,8}$/, 'must be milliseconds, at most 86400000')
  .transform(Number)
  .refine((ms) => ms <= 86_400_000, 'must be milliseconds, at most 86400000');
const Via = z
  .string()
  .max(2_000)
  .regex(/^[\w.-]+(?:,[\w.-]+)*$/);

const run = defineRoute('POST /agency/run', {
  id: 'agencyRun',
  summary: 'Runs an agent once in an agency peripheral, here or on the node that the registry names.',
  for: ['operator', 'agent', 'session', 'node'],
  body: RunRequest,
  headers: {
    [RUN_HEADER_NAMES.key]:
      'Idempotency key: a request with the same key returns the first run, and never starts the agent again.',
    [RUN_HEADER_NAMES.budget]: 'Milliseconds that the caller waits. They end the wait, not the run.',
    [RUN_HEADER_NAMES.via]: 'The nodes that passed the run on, separated by commas.',
  },
  answer: Reply,
  run: async ({ body, who, services, header }) => {
    const key = headerAs(RUN_HEADER_NAMES.key, header(RUN_HEADER_NAMES.key), Key) ?? randomUUID();
    const budgetMs = headerAs(RUN_HEADER_NAMES.budget, header(RUN_HEADER_NAMES.budget), Budget) ?? null;
    const via = headerAs(RUN_HEADER_NAMES.via, header(RUN_HEADER_NAMES.via), Via)?.split(',') ?? [];
    const request = await checkRunRequester(services, who, body, key);
    const reply = await services.agency.run(request, { key, budgetMs, via }, addSessionContext(services));
    return Response.json(reply, {
      status: reply.ok ? 200 : RUN_HTTP_STATUS[reply.error.code],
      headers: { [RUN_HEADER_NAMES.key]: key },
    });
  },
});

const cancel = defineRoute('POST /agency/cancel', {
  id: 'agencyCancel',
  summary: 'Cancels a run on this node, or on the node to which this node passed it.',
  for: ['operator', 'agent', 'node'],
  body: z.strictObject({ key: Key }),
  answer: z.object({ cancelled: z.boolean().describe('False if no run with this key is active on this node.') }),
  run: async ({ body, services }) => ({ cancelled: services.agency.cancel(body.key) }),
});

const agents = defineRoute('GET /agency/agents', {
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

const connect = defineRoute('GET /agency/connect', {
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

/** The name of a node in addresses. @throws ApiError */
function nodeOf(who: Requester): string {
  const name = NodeNameSchema.safeParse(who.role === 'node' ? who.node : '');
  if (name.success) return name.data;
  throw new ApiError(
    'forbidden',
    'the name of this node is not allowed: at most 100 letters, digits, ".", ":", "_" and "-"',
    'Choose an allowed name, and make a token for it: hopgate agency token <node>.',
  );
}

const Position = z.object({ message: z.int().min(0), receipt: z.int().min(0) });
const After = z.object({ positions: z.record(z.string(), Position), waits: z.string() });

function positionsIn(text: string): MailPositions {
  if (text === '') return NO_MAIL_POSITIONS;
  const after = After.safeParse(parseJson(Buffer.from(text, 'base64url').toString()));
  if (after.success) return after.data;
  throw new ApiError('invalid-request', 'this is not a cursor', 'Send "after" of the last answer.', 'query.after');
}

const deliver = defineRoute('POST /agency/messages', {
  id: 'agencyDeliver',
  summary: 'Delivers messages and receipts of another node. A message that arrives again is stored once.',
  for: ['node'],
  body: NodeMailSchema,
  answer: z.object({ refusals: NodeMailSchema.shape.refusals }),
  run: async ({ who, body, services: { mail } }) => ({ refusals: [...(await mail.accept(nodeOf(who), body))] }),
});

const collect = defineRoute('GET /agency/messages', {
  id: 'agencyCollect',
  summary: 'Returns messages and receipts for another node, after at most 15 seconds.',
  for: ['node'],
  query: z.strictObject({ after: z.string().max(100_000).default('').describe('"after" of the last answer.') }),
  answer: MailAnswerSchema,
  run: async ({ who, query, services: { mail }, signal }) => {
    const node = nodeOf(who);
    const after = positionsIn(query.after);
    const until = Date.now() + MAIL_WAIT_MS;
    for (;;) {
      const outgoing = await mail.collect(node, after);
      if (outgoing)
        return { mail: outgoing.mail, after: Buffer.from(JSON.stringify(outgoing.after)).toString('base64url') };
      if (signal.aborted || Date.now() >= until)
        return { mail: { messages: [], receipts: [], refusals: [] }, after: query.after };
      await sleep(MAIL_POLL_MS, undefined, { signal, ref: false }).catch(() => {});
    }
  },
});

export const AGENCY_ROUTES: readonly HttpRoute[] = [run, cancel, agents, connect, deliver, collect];
