import { once } from 'node:events';
import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type ListenOptions } from 'node:net';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { createAdaptorServer } from '@hono/node-server';
import type { Hono } from 'hono';
import { WebSocketServer } from 'ws';
import manifest from '../../package.json' with { type: 'json' };
import { writeNodeAddress } from '../agency/nearest-node.ts';
import { lstatIfAny } from '../base/files.ts';
import { refuseOtherUpgrades } from '../base/http.ts';
import type { Env } from '../base/user-folders.ts';
import type { HttpEndpoint } from '../daemon/serve-daemon.ts';
import type { SessionHost } from '../daemon/session-host.ts';
import { createHttpApp, MAX_REQUEST_BODY } from './create-app.ts';
import { exchangeMailWithAllNodes } from './messages/keep-exchanges.ts';
import { A2A_ROUTES } from './routes/a2a.ts';
import { AGENCY_ROUTES } from './routes/agency.ts';
import { ROUTES } from './routes.ts';
import { makeServerServices, type ServerServices } from './services.ts';

const MAX_CONNECTIONS = 512;
/** How long a request may take to arrive, in milliseconds. */
const ARRIVAL_MS = 10_000;
/** How long running calls have to finish when the server ends, in milliseconds. Their tools are then stopped. */
const FINISH_MS = 900;

/** Maximum number of sessions whose hop graphs are laid out at the start. */
const MAX_LAID_OUT = 8;
/** The largest message of a page's socket, in bytes. */
const MAX_SOCKET_BYTES = 1 << 16;

export interface HttpServerOptions {
  readonly env: Env;
  /** A port of 127.0.0.1 (0: a free one), or the path of a unix socket. */
  readonly listen: { readonly port: number } | { readonly socket: string };
  readonly log?: (line: string) => void;
  /** The agency folder. Default: this user's. */
  readonly agencyFolder?: string;
  /** A second address for other nodes of the agency, which serves nothing else. */
  readonly agencyListen?: { readonly host: string; readonly port: number };
}

export interface HttpServer extends HttpEndpoint {
  /** Makes a one-use code that logs a browser in. It is valid for a minute. */
  issueCode(): string;
  /** The address for other nodes of the agency; null if there is none. */
  readonly agencyAddress: string | null;
}

/** Starts the HTTP server over the daemon's sessions. @throws Error with the system's code if it cannot listen */
export async function openHttpServer(host: SessionHost, options: HttpServerOptions): Promise<HttpServer> {
  const { env, listen, log = () => {} } = options;
  const ending = new AbortController();
  const { agencyFolder, agencyListen } = options;
  const { version } = manifest;
  const services = makeServerServices({ env, host, version, ending: ending.signal, agencyFolder });
  let hosts: readonly string[] = ['localhost'];
  const app = createHttpApp({ services, routes: ROUTES, hosts: () => hosts, log });
  const sockets = [MAX_SOCKET_BYTES, MAX_REQUEST_BODY * 2].map(
    (maxPayload) => new WebSocketServer({ noServer: true, maxPayload }),
  );
  const server = serverOf(app, sockets[0]!);
  const nodeServer =
    agencyListen &&
    serverOf(
      createHttpApp({ services, routes: [...AGENCY_ROUTES, ...A2A_ROUTES], hosts: () => null, log }),
      sockets[1]!,
    );
  try {
    if ('socket' in listen) await removeDeadSocket(listen.socket);
    await listenAt(server, 'socket' in listen ? { path: listen.socket } : { port: listen.port, host: '127.0.0.1' });
    if (nodeServer) await listenAt(nodeServer, agencyListen);
  } catch (error) {
    server.close();
    await services.close();
    throw error;
  }
  let address: string;
  let withdraw = () => {};
  if ('socket' in listen) {
    chmodSync(listen.socket, 0o600);
    address = `unix:${listen.socket}`;
  } else {
    const { port } = server.address() as AddressInfo;
    hosts = [`127.0.0.1:${port}`, `localhost:${port}`];
    address = `http://127.0.0.1:${port}`;
    withdraw = writeNodeAddress(env, address);
  }
  void layOutOpenSessions(services).catch(() => {});
  void exchangeMailWithAllNodes(services, ending.signal, log);
  return {
    address,
    agencyAddress: nodeServer ? addressOf(nodeServer) : null,
    issueCode: () => services.logins.issueCode(),
    async close() {
      withdraw();
      const servers = nodeServer ? [server, nodeServer] : [server];
      const closed = Promise.all(servers.map((each) => new Promise<void>((resolve) => each.close(() => resolve()))));
      // A client that sends continuously never leaves its connection idle, so the next response closes it.
      for (const each of servers)
        each.prependListener('request', (_, response) => {
          response.shouldKeepAlive = false;
        });
      // The timer does not keep the process running.
      const wait = (ms: number): Promise<void> => sleep(ms, undefined, { ref: false });
      const idle = setInterval(() => {
        for (const each of servers) each.closeIdleConnections();
      }, 20);
      await Promise.race([closed, wait(FINISH_MS / 4)]);
      ending.abort();
      await Promise.race([closed, wait(FINISH_MS)]);
      clearInterval(idle);
      for (const each of servers) each.closeAllConnections();
      // These are WebSockets, such as those of connected nodes; a server of HTTP does not close them.
      for (const { clients } of sockets) for (const client of clients) client.terminate();
      await services.close();
    },
  };
}

/** Lays out the hop graphs of the newest open sessions, so that a page need not wait for them. */
async function layOutOpenSessions({ allEvidence, frames, ending }: ServerServices): Promise<void> {
  await setImmediate();
  const open = (await allEvidence.sessions()).filter(({ summary, root }) => !summary.closed && root !== null);
  for (const { summary } of open.slice(0, MAX_LAID_OUT)) {
    if (ending.aborted) return;
    await frames.graph(summary.sessionId);
  }
}

function serverOf(app: Hono, sockets: WebSocketServer): Server {
  const server = createAdaptorServer({
    fetch: app.fetch,
    createServer,
    serverOptions: {
      requestTimeout: ARRIVAL_MS,
      headersTimeout: ARRIVAL_MS,
      // By default Node looks for late requests only every 30 seconds.
      connectionsCheckingInterval: 1_000,
      keepAliveTimeout: 5_000,
    },
    websocket: { server: sockets },
  }) as Server;
  refuseOtherUpgrades(server);
  server.maxConnections = MAX_CONNECTIONS;
  return server;
}

/** Removes the socket of a process that was killed. Anything else stays, and listening fails. */
async function removeDeadSocket(path: string): Promise<void> {
  if (!lstatIfAny(path)?.isSocket()) return;
  const probe = connect(path);
  const code = await once(probe, 'connect').then(
    () => null,
    (error: NodeJS.ErrnoException) => error.code,
  );
  probe.destroy();
  if (code === 'ECONNREFUSED') rmSync(path);
}

const listenAt = (server: Server, address: ListenOptions): Promise<unknown> =>
  once(server.listen(address), 'listening');

function addressOf(server: Server): string {
  const { address, port, family } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
