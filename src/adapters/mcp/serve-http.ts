import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, isLegacyRequest, localhostAllowedHostnames } from '@modelcontextprotocol/server';
import { assertArgument, hasMethods } from '../../base/assert-argument.ts';
import { checkRequestHeaders, makeRefusalResponse, type RequestGuardOptions } from './guard-request.ts';
import { openLegacyConnections } from './legacy-connections.ts';
import { type McpHost, ServedClient } from './mcp-host.ts';
import { makeMcpServer } from './mcp-server.ts';

const MCP_PATH = '/mcp';

export interface HttpOptions {
  /** The local address to listen on. Default: `127.0.0.1`. */
  readonly address?: string;
  /** The port to listen on. Default: 0, any free port. */
  readonly port?: number;
  /** The token that requests must carry; null if none is required. Default: a new one. */
  readonly token?: string | null;
  /** Further host names under which clients may reach the server. */
  readonly allowHosts?: readonly string[];
}

export interface HttpServing {
  readonly url: string;
  readonly token: string | null;
  close(): Promise<void>;
}

/**
 * Serves a session over Streamable HTTP: clients of MCP 2025-11-25 or older get a connection, and
 * requests of 2026-07-28 are stateless.
 * @throws Error `EADDRINUSE` if the port is in use
 * @example const { url, token, close } = await serveOverHttp(new McpHost({ session: agentSession(session) }));
 */
export async function serveOverHttp(host: McpHost, options: HttpOptions = {}): Promise<HttpServing> {
  assertArgument(hasMethods(host, 'observe'), 'serveOverHttp: host', 'an McpHost', host);
  const { address = '127.0.0.1', port = 0, token = randomUUID().replaceAll('-', ''), allowHosts = [] } = options;
  const guard: RequestGuardOptions = {
    token,
    hosts: [...localhostAllowedHostnames(), bracketAddress(address), ...allowHosts],
  };
  const onerror = (error: Error): void => host.report(error);
  const legacy = openLegacyConnections(host);
  const peer = new ServedClient({ connected: false });
  const modern = createMcpHandler(({ requestInfo }) => makeMcpServer(host, peer, isGreeting(requestInfo)), {
    legacy: 'reject',
    onerror,
  });
  const stopObserving = host.observe({
    toolsChanged: () => modern.notify.toolsChanged(),
    resourceUpdated: (uri) => modern.notify.resourceUpdated(uri),
  });
  const fetch = async (request: Request): Promise<Response> => {
    if (new URL(request.url).pathname !== MCP_PATH) return makeRefusalResponse(404, `send MCP requests to ${MCP_PATH}`);
    return (await isLegacyRequest(request)) ? legacy.fetch(request) : modern.fetch(request);
  };
  const handler = toNodeHandler({ fetch }, { onerror });
  const server = createServer((request, response) => {
    const refusal = checkRequestHeaders(request.headers, guard);
    void (refusal ? answerWith(refusal, response) : handler(request, response)).catch(onerror);
  });
  await once(server.listen(port, address), 'listening');
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://${bracketAddress(address)}:${bound}${MCP_PATH}`,
    token,
    async close() {
      stopObserving();
      await Promise.all([legacy.close(), modern.close()]);
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** True if a request asks for the server's introduction. Requests of 2026-07-28 name their method in a header. */
function isGreeting(request: Request | undefined): boolean {
  const method = request?.headers.get('mcp-method') ?? null;
  return method === null || method === 'server/discover';
}

async function answerWith(answer: Response, response: ServerResponse): Promise<void> {
  response.writeHead(answer.status, { ...Object.fromEntries(answer.headers), connection: 'close' });
  response.end(await answer.text());
}

const bracketAddress = (address: string): string => (address.includes(':') ? `[${address}]` : address);
