import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { CliError } from '../io.ts';
import { renderInspectorPage } from './bridge-page.ts';
import type { SendToInspector } from './stately-inspector.ts';

const LOOPBACK = '127.0.0.1';

/** A server on this machine that shows the xstate machines of a session. */
export interface Bridge {
  /** The address of the page that shows the Stately inspector. */
  readonly address: string;
  /** The address at which a WebSocket client receives the messages. */
  readonly socket: string;
  /** Sends a message to every watcher, and stores it for watchers that connect later. */
  readonly send: SendToInspector;
  close(): Promise<void>;
}

/**
 * Starts the bridge on the loopback interface. All messages are stored, so that a late watcher sees the whole history.
 * Requests from pages of other origins, and for host names that merely resolve to this machine, are refused.
 * @param port 0 takes any free one
 * @param inspector the address of the page to show, if not Stately's
 * @throws CliError `port-in-use`
 */
export async function startBridge(port: number, inspector?: string): Promise<Bridge> {
  const messages: string[] = [];
  const server = createServer((request, response) => serveRequest(request, response, inspector));
  const sockets = new WebSocketServer({ server, verifyClient: ({ req }: { req: IncomingMessage }) => isFromHere(req) });
  sockets.on('connection', (socket) => {
    socket.on('error', () => socket.terminate());
    for (const message of messages) socket.send(message);
  });
  sockets.once('error', () => {}); // `server.listen` below rejects with the same error.
  await once(server.listen(port, LOOPBACK), 'listening').catch((error: NodeJS.ErrnoException) => {
    throw unusablePort(port, error);
  });
  const actual = (server.address() as AddressInfo).port;
  return {
    address: `http://${LOOPBACK}:${actual}/`,
    socket: `ws://${LOOPBACK}:${actual}/`,
    send(message) {
      const text = JSON.stringify(message);
      messages.push(text);
      for (const client of sockets.clients) if (client.readyState === WebSocket.OPEN) client.send(text);
    },
    close: async () => {
      for (const client of sockets.clients) client.terminate();
      sockets.close();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** True if the request is addressed to this server and does not come from another page. Programs send no Origin. */
function isFromHere({ headers, socket }: IncomingMessage): boolean {
  const hosts = [`${LOOPBACK}:${socket.localPort}`, `localhost:${socket.localPort}`];
  if (!hosts.includes(headers.host ?? '')) return false;
  return headers.origin === undefined || hosts.some((host) => headers.origin === `http://${host}`);
}

function serveRequest(request: IncomingMessage, response: ServerResponse, inspector: string | undefined): void {
  if (!isFromHere(request)) {
    response
      .writeHead(403, { 'content-type': 'text/plain' })
      .end('this server answers only programs of this machine\n');
  } else if (request.method !== 'GET' || request.url !== '/') {
    response.writeHead(404, { 'content-type': 'text/plain' }).end('this server has only the page /\n');
  } else {
    const { html, policy } = renderInspectorPage(randomBytes(16).toString('base64'), inspector);
    response.writeHead(200, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
      'cache-control': 'no-store',
    });
    response.end(html);
  }
}

function unusablePort(port: number, error: NodeJS.ErrnoException): CliError {
  return error.code === 'EADDRINUSE'
    ? new CliError('port-in-use', `port ${port} is in use`, 'Choose another with --port; 0 takes any free one.')
    : new CliError('port-unusable', `cannot listen on port ${port}: ${error.message}`, 'Choose another with --port.');
}
