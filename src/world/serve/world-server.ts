import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, isIP } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { WebSocketServer } from 'ws';
import { refuseOtherUpgrades } from '../../base/http.ts';
import type { HouseChoice } from '../household-environment.ts';
import { createWorldApp } from './world-app.ts';

const MAX_CONNECTIONS = 128;
/** How long a request may take to arrive, in milliseconds. */
const ARRIVAL_MS = 10_000;

interface WorldServerOptions {
  readonly choice: HouseChoice;
  /** The port to listen on; 0 takes a free one. */
  readonly port: number;
  /** The address to listen on. Default 127.0.0.1, which only programs of this machine reach. */
  readonly host?: string;
  readonly idle?: number;
}

/** A running world. `ended` settles after `close` or `POST /quit`. */
export interface WorldServer {
  readonly address: string;
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

/** Serves a household. @throws Error with the system's code if it cannot listen */
export async function serveWorld({ choice, port, host = '127.0.0.1', idle }: WorldServerOptions): Promise<WorldServer> {
  let hosts: readonly string[] = [];
  const app = createWorldApp({ choice, hosts: () => hosts, onQuit: () => void close(), idle });
  const sockets = new WebSocketServer({ noServer: true, maxPayload: 1 << 16 });
  const server = createAdaptorServer({
    fetch: app.fetch,
    createServer,
    serverOptions: {
      requestTimeout: ARRIVAL_MS,
      headersTimeout: ARRIVAL_MS,
      // Node's default is 30 seconds.
      connectionsCheckingInterval: 1_000,
      keepAliveTimeout: 5_000,
    },
    websocket: { server: sockets },
  }) as Server;
  refuseOtherUpgrades(server);
  server.maxConnections = MAX_CONNECTIONS;
  const ended = new Promise<void>((resolve) => server.once('close', resolve));
  const close = async (): Promise<void> => {
    server.close();
    server.closeAllConnections();
    for (const socket of sockets.clients) socket.terminate();
    await ended;
  };
  await once(server.listen({ port, host }), 'listening');
  const bound = (server.address() as AddressInfo).port;
  const shown = isIP(host) === 6 ? `[${host}]` : host;
  hosts = [shown, '127.0.0.1', 'localhost'].map((name) => `${name}:${bound}`);
  return { address: `http://${shown}:${bound}`, ended, close };
}
