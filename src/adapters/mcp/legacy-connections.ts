import { randomUUID } from 'node:crypto';
import { isInitializeRequest, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import { makeRefusalResponse } from './guard-request.ts';
import { type McpHost, ServedClient } from './mcp-host.ts';
import { makeMcpServer } from './mcp-server.ts';

/** Maximum number of clients at once. Above it, the connection that was idle for longest is closed. */
const MAX_CONNECTIONS = 64;

/** The connections of clients that speak MCP 2025-11-25 or older, by the id in `Mcp-Session-Id`. */
export class LegacyConnections {
  readonly #host: McpHost;
  /** The open connections by id, the least recently used first. */
  readonly #open = new Map<string, WebStandardStreamableHTTPServerTransport>();

  constructor(host: McpHost) {
    this.#host = host;
  }

  async fetch(request: Request): Promise<Response> {
    const id = request.headers.get('mcp-session-id');
    if (id === null)
      return (await isInitialize(request)) ? this.#begin(request) : makeRefusalResponse(400, 'send "initialize" first');
    const transport = this.#open.get(id);
    if (!transport) return makeRefusalResponse(404, 'this connection has ended; send "initialize" for a new one');
    this.#open.delete(id);
    this.#open.set(id, transport);
    return transport.handleRequest(request);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map((transport) => transport.close()));
  }

  async #begin(request: Request): Promise<Response> {
    const [oldest] = this.#open.size >= MAX_CONNECTIONS ? this.#open.values() : [];
    await oldest?.close();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void this.#open.set(id, transport),
    });
    const server = await makeMcpServer(this.#host, new ServedClient({ connected: true }));
    const forget = server.onclose;
    server.onclose = () => {
      forget?.();
      if (transport.sessionId !== undefined) this.#open.delete(transport.sessionId);
    };
    await server.connect(transport);
    return transport.handleRequest(request);
  }
}

async function isInitialize(request: Request): Promise<boolean> {
  if (request.method !== 'POST') return false;
  try {
    return isInitializeRequest(await request.clone().json());
  } catch {
    return false;
  }
}
