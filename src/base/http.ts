import type { Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { fieldsOf, textOf } from './json.ts';
import { errorText } from './text.ts';

/**
 * The reason why a request failed. The error of `fetch` says only "fetch failed"; its cause has the reason, or only a
 * code.
 */
export function requestProblem(error: unknown): string {
  const { message, code } = fieldsOf(fieldsOf(error)['cause'] ?? error);
  return textOf(message) ?? textOf(code) ?? errorText(error);
}

/** The code of the error of the system because of which a request failed, such as ECONNREFUSED. */
export const requestErrorCode = (error: unknown): unknown => fieldsOf(fieldsOf(error)['cause'])['code'];

/** The address of a path below the address of a server. */
export const urlBelow = (server: string, path: string): URL =>
  new URL(path, server.endsWith('/') ? server : `${server}/`);

interface JsonRequest {
  readonly token: string | null;
  /** The body of a POST; without it, the request is a GET. */
  readonly body?: object | undefined;
  readonly headers?: { readonly [name: string]: string };
  readonly signal: AbortSignal;
}

/** Sends a JSON request on a connection of its own. A redirect is an error: the token is for this address alone. */
export const fetchJson = (url: URL | string, { token, body, headers, signal }: JsonRequest): Promise<Response> =>
  fetch(url, {
    method: body ? 'POST' : 'GET',
    redirect: 'error',
    headers: {
      Connection: 'close',
      ...(body ? { 'Content-Type': 'application/json' } : {}),
      ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
      ...headers,
    },
    body: body ? JSON.stringify(body) : null,
    signal,
  });

/** The body of an HTTP answer as text; throws the given error once it has more bytes than `maxBytes`. */
export async function readResponseText(maxBytes: number, { body }: Response, tooLarge: () => Error): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body ?? []) {
    size += part.length;
    if (size > maxBytes) throw tooLarge();
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

/** How long the client of a refused upgrade has to close the connection, in milliseconds. */
const CLOSE_MS = 500;

/**
 * Guards a connection that Node's HTTP server has handed over with `upgrade`: an error cannot end this process, and the
 * connection closes soon after this side has ended it, even if the client never does.
 */
export function guardUpgrade(socket: Duplex): Duplex {
  socket.once('finish', () => setTimeout(() => socket.destroy(), CLOSE_MS).unref());
  return socket.on('error', () => socket.destroy());
}

/** Makes a server of @hono/node-server refuse other upgrades than to WebSocket, which it would never answer. */
export function refuseOtherUpgrades(server: Server): void {
  const [toWebSocket] = server.listeners('upgrade');
  server.removeAllListeners('upgrade').on('upgrade', (request, socket: Duplex, head) => {
    guardUpgrade(socket);
    if (request.headers.upgrade?.toLowerCase() === 'websocket') toWebSocket!(request, socket, head);
    else socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\nUpgrade may only be websocket.\n');
  });
}
