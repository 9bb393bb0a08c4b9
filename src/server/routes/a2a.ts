import { z } from 'zod';
import { parseJson } from '../../base/json.ts';
import { getOwn, nameRemedy } from '../../spec/names.ts';
import type { A2aHandler } from '../a2a/a2a-handler.ts';
import { ApiError } from '../api-error.ts';
import { defineRoute, type HttpRoute, type RouteRequest } from '../http-route.ts';

type CardRequest = Pick<RouteRequest<undefined, undefined, undefined>, 'services' | 'header'>;

/** The address of this server as its client called it. */
const baseOf = ({ header }: CardRequest): string =>
  `${header('x-forwarded-proto') === 'https' ? 'https' : 'http'}://${header('host') ?? 'localhost'}`;

/** Returns the name if the registry has such an agent. @throws ApiError `not-found` */
function knownAgent({ services }: CardRequest, agent: string): string {
  const { agents } = services.agency.spec();
  if (getOwn(agents, agent)) return agent;
  throw new ApiError('not-found', `there is no agent "${agent}"`, nameRemedy(agent, Object.keys(agents)));
}

const CARD = {
  for: 'public',
  answer: { type: 'application/json', description: 'An agent card of the A2A protocol 1.0.' },
} as const;
const card = defineRoute('GET /.well-known/agent-card.json', {
  id: 'a2aCard',
  summary: 'Describes this node to A2A clients; each agency peripheral is a skill.',
  ...CARD,
  run: async (request) => (await request.services.a2a()).card(baseOf(request), null),
});

const agentCard = defineRoute('GET /a2a/{agent}/.well-known/agent-card.json', {
  id: 'a2aAgentCard',
  summary: 'Describes one agent of the registry to A2A clients.',
  ...CARD,
  run: async (request) => (await request.services.a2a()).card(baseOf(request), knownAgent(request, request.path.agent)),
});

const CALL = {
  for: ['operator', 'agent', 'node'],
  body: z.looseObject({ jsonrpc: z.literal('2.0'), method: z.string() }),
  badBody: ({ message, remedy }: ApiError, text: string) => {
    const [code, what] = parseJson(text) === undefined ? [-32700, 'Parse error'] : [-32600, 'Invalid Request'];
    return Response.json({ jsonrpc: '2.0', id: null, error: { code, message: `${what}: ${message}. ${remedy}` } });
  },
  headers: { 'A2A-Version': 'The version of the protocol: 1.0.' },
  answer: { type: 'application/json', description: 'A JSON-RPC response, or an event stream of them.' },
} as const;

const call = defineRoute('POST /a2a', {
  id: 'a2a',
  summary:
    'Serves the JSON-RPC binding of A2A 1.0: messages, tasks, streams. The message names its agent and peripheral.',
  ...CALL,
  run: async (request) => (await request.services.a2a()).call(callOf(request, null)),
});

const agentCall = defineRoute('POST /a2a/{agent}', {
  id: 'a2aAgent',
  summary: 'Serves the JSON-RPC binding of A2A 1.0 for one agent of the registry.',
  ...CALL,
  run: async (request) => (await request.services.a2a()).call(callOf(request, knownAgent(request, request.path.agent))),
});

const callOf = (
  { body, who, header }: Pick<RouteRequest<undefined, undefined, typeof CALL.body>, 'body' | 'who' | 'header'>,
  agent: string | null,
): Parameters<A2aHandler['call']>[0] => ({ body, who, agent, version: header('a2a-version') });

export const A2A_ROUTES: readonly HttpRoute[] = [card, agentCard, call, agentCall];
