import { randomUUID } from 'node:crypto';
import { isInitializeRequest, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import { makeRefusalResponse } from './guard-request.ts';
import { type McpHost, ServedClient } from './mcp-host.ts';
import { makeMcpServer } from './mcp-server.ts';

/** Maximum number of connections. Above it, the connection that was idle for longest is closed. */
const MAX_CONNECTIONS = 64;

/** The connections of clients that speak MCP 2025-11-25 or older, by the id in `Mcp-Session-Id`. */
export function openLegacyConnections(host: McpHost) {
  /** The open connections by id, the least recently used first. */
  const open = new Map<string, WebStandardStreamableHTTPServerTransport>();
  const begin = async (request: Request): Promise<Response> => {
    const [oldest] = open.size >= MAX_CONNECTIONS ? open.values() : [];
    await oldest?.close();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void open.set(id, transport),
    });
    const server = await makeMcpServer(host, new ServedClient({ connected: true }));
    const forget = server.onclose;
    server.onclose = () => {
      forget?.();
      if (transport.sessionId !== undefined) open.delete(transport.sessionId);
    };
    await server.connect(transport);
    return transport.handleRequest(request);
  };
  return {
    async fetch(request: Request): Promise<Response> {
      const id = request.headers.get('mcp-session-id');
      if (id === null)
        return (await isInitialize(request)) ? begin(request) : makeRefusalResponse(400, 'send "initialize" first');
      const transport = open.get(id);
      if (!transport) return makeRefusalResponse(404, 'this connection has ended; send "initialize" for a new one');
      open.delete(id);
      open.set(id, transport);
      return transport.handleRequest(request);
    },
    async close(): Promise<void> {
      await Promise.all([...open.values()].map((transport) => transport.close()));
    },
  };
}

async function isInitialize(request: Request): Promise<boolean> {
  if (request.method !== 'POST') return false;
  try {
    return isInitializeRequest(await request.clone().json());
  } catch {
    return false;
  }
}
