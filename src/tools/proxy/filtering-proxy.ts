import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type HostAndPort, parseHostAndPort, printHostAndPort } from '../../gate/scope/host-names.ts';
import { PROXY_LIMITS } from '../../spec/policy/limits.ts';
import { lookupOnlyAddresses } from '../web/public-address.ts';
import { pinHostNames, type ResolveName } from './pinned-names.ts';
import { ServerNameCheck } from './server-name-check.ts';
import {
  findUpstreamProxy,
  nodeModuleForProxy,
  openProxyTunnel,
  requestOptionsForProxy,
  type UpstreamProxy,
} from './upstream-proxy.ts';

export interface ProxyConnectionTry {
  /** `host:port`. */
  readonly target: string;
  readonly tries: number;
  /** The reason why the proxy refused the connection; null if it was made. */
  readonly why: string | null;
}

export interface FilteringProxy {
  accept(socket: Socket): void;
  /** The destinations that the command tried so far, in the order of the first try. */
  tried(): readonly ProxyConnectionTry[];
  /** The errors of allowed destinations that did not answer, by `host:port`. */
  unanswered(): ReadonlyMap<string, string>;
  close(): void;
}

/** Hop-by-hop headers, which concern one connection, not the request. */
const HOP_BY_HOP = new Set(
  ['connection', 'keep-alive', 'proxy-connection', 'proxy-authorization', 'proxy-authenticate', 'te', 'trailer'].concat(
    ['transfer-encoding', 'upgrade'],
  ),
);

/**
 * A filtering HTTP proxy: CONNECT and plain HTTP, to the listed hosts only. It does not listen on a port; the
 * connections come from the command's own network namespace, so nobody else can use it. The gate's rule judges each
 * host. The proxy resolves each name once and connects to the checked addresses only. If the operator's environment
 * names a proxy, the connection goes through that proxy by name; the addresses that this machine finds for the name are
 * checked nonetheless.
 * @param list `hosts` of the command's configuration
 * @param env the operator's environment, for its `https_proxy`, `http_proxy` and `no_proxy`
 * @param onInsistence called when a command has tried the same refused destination `PROXY_LIMITS.refusals` times
 */
export function makeFilteringProxy(
  list: readonly string[],
  {
    resolve,
    env = {},
    onInsistence,
  }: { readonly resolve?: ResolveName; readonly env?: NodeJS.ProcessEnv; readonly onInsistence?: () => void } = {},
): FilteringProxy {
  const reach = pinHostNames(list, resolve);
  const tried = new Map<string, { target: string; tries: number; why: string | null }>();
  const unanswered = new Map<string, string>();
  const openSockets = new Set<Socket>();
  let bytesOfEnded = 0;

  const record = (target: string, why: string | null) => {
    const key = `${target} ${why}`;
    const earlier = tried.get(key);
    if (earlier) {
      earlier.tries += 1;
      if (why !== null && earlier.tries === PROXY_LIMITS.refusals) onInsistence?.();
    } else if (tried.size < PROXY_LIMITS.hosts) tried.set(key, { target, tries: 1, why });
  };
  const close = () => {
    clearInterval(meter);
    for (const socket of openSockets) socket.destroy();
  };
  const meter = setInterval(() => {
    const bytes = [...openSockets].reduce((sum, socket) => sum + bytesTransferred(socket), bytesOfEnded);
    if (bytes <= PROXY_LIMITS.bytes) return;
    record('any host', `more than ${PROXY_LIMITS.bytes} bytes were transferred`);
    close();
  }, 1000).unref();
  /** Checks a destination and records it. Returns its addresses and the operator's proxy for it, or the refusal. */
  const judge = async (
    kind: 'http' | 'https',
    target: HostAndPort | null,
    targetText: string,
  ): Promise<{ readonly refusal: string } | AdmittedTarget> => {
    const text = target ? printHostAndPort(target) : targetText.slice(0, 200);
    const found = target ? findUpstreamProxy(env, kind, target) : null;
    const reached = !target
      ? { problem: 'it is not a host with a port' }
      : found && 'problem' in found
        ? found
        : await reach(target, found !== null);
    record(text, 'problem' in reached ? reached.problem : null);
    if ('problem' in reached) return { refusal: `hopgate refuses ${text}: ${reached.problem}.\n` };
    return { ...reached, via: found && 'url' in found ? found : null };
  };

  const server = http.createServer({ maxHeaderSize: 32_768, keepAliveTimeout: 30_000, requestTimeout: 0 });
  server.on('clientError', (_, socket) => socket.destroy());
  server.on('connect', async (request: IncomingMessage, client: Duplex, head: Buffer) => {
    client.on('error', () => client.destroy());
    const target = parseHostAndPort(request.url ?? '');
    const judged = await judge('https', target, request.url ?? '');
    if ('refusal' in judged) return client.end(answerText(403, 'Forbidden', judged.refusal));
    let remote: Socket;
    try {
      remote = judged.via ? await openProxyTunnel(judged.via, target!) : await connectTo(judged, target!);
    } catch (error) {
      unanswered.set(printHostAndPort(target!), (error as Error).message);
      return client.end(answerText(502, 'Bad Gateway', `${(error as Error).message}\n`));
    }
    if (client.destroyed) return remote.destroy();
    client.once('close', () => remote.destroy());
    remote.on('error', () => client.destroy());
    client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
    const check = new ServerNameCheck(target!.host, (name) => {
      record(printHostAndPort({ ...target!, host: name }), `TLS requested it on a connection to ${target!.host}`);
      client.destroy();
      remote.destroy();
    });
    if (head.length > 0) client.unshift(head);
    client.pipe(check).on('error', () => client.destroy());
    check.pipe(remote).pipe(client);
  });
  server.on('request', async (request: IncomingMessage, response: ServerResponse) => {
    const url = URL.parse(request.url ?? '');
    const isPlain = url?.protocol === 'http:' && url.username === '' && url.password === '';
    const target = isPlain ? parseHostAndPort(`${url.hostname}:${url.port || 80}`) : null;
    const judged = await judge('http', target, request.url ?? '');
    if ('refusal' in judged) return response.writeHead(403, { 'content-type': 'text/plain' }).end(judged.refusal);
    const outgoing = requestTo(judged, target!, url!, request);
    const fail = ({ message }: Pick<Error, 'message'>) => {
      unanswered.set(printHostAndPort(target!), message);
      if (response.headersSent) response.destroy();
      else response.writeHead(502, { 'content-type': 'text/plain' }).end(`${message}\n`);
    };
    const refuseStatus = ({ statusCode }: IncomingMessage) => {
      fail({ message: `its answer has the status ${statusCode}` });
      outgoing.destroy();
    };
    outgoing.on('error', fail);
    outgoing.on('upgrade', refuseStatus);
    outgoing.on('response', (incoming) => {
      incoming.on('error', () => response.destroy());
      if ((incoming.statusCode ?? 0) < 200) return refuseStatus(incoming);
      incoming.pipe(response.writeHead(incoming.statusCode!, endToEndHeaders(incoming.headers)));
    });
    response.once('close', () => outgoing.destroy());
    request.on('error', () => outgoing.destroy()).pipe(outgoing);
  });

  return {
    accept: (socket) => {
      if (openSockets.size >= PROXY_LIMITS.connections) {
        record('any host', `more than ${PROXY_LIMITS.connections} connections were open`);
        socket.destroy();
        return;
      }
      openSockets.add(socket);
      // One side of a tunnel may end its direction while the other still sends.
      socket.allowHalfOpen = true;
      socket.on('error', () => socket.destroy());
      socket.once('close', () => {
        openSockets.delete(socket);
        bytesOfEnded += bytesTransferred(socket);
      });
      server.emit('connection', socket);
    },
    tried: () => [...tried.values()],
    unanswered: () => unanswered,
    close,
  };
}

const bytesTransferred = ({ bytesRead, bytesWritten }: Socket): number => bytesRead + bytesWritten;

interface CheckedTarget {
  readonly host: string;
  readonly addresses: readonly string[];
}

/** An allowed destination, and the operator's proxy that leads to it. */
interface AdmittedTarget extends CheckedTarget {
  readonly via: UpstreamProxy | null;
}

async function connectTo(checked: CheckedTarget, { port }: HostAndPort): Promise<Socket> {
  const socket = connect({ host: checked.host, port, ...lookupOnlyAddresses(checked.addresses), allowHalfOpen: true });
  await once(socket, 'connect');
  return socket;
}

/** Starts the request of a command: to the checked address, or to the operator's proxy. */
function requestTo(
  checked: AdmittedTarget,
  { port }: HostAndPort,
  url: URL,
  request: IncomingMessage,
): http.ClientRequest {
  // The URL's host replaces the Host header, so that a request for one host cannot be sent to another.
  const headers = { ...requestHeaders(request), host: url.host };
  const method = request.method!;
  const path = `${url.pathname}${url.search}`;
  const { via } = checked;
  if (via)
    return nodeModuleForProxy(via).request({
      ...requestOptionsForProxy(via, headers),
      method,
      path: `${url.origin}${path}`,
    });
  const options: http.RequestOptions & { autoSelectFamily: boolean } = {
    host: checked.host,
    port,
    ...lookupOnlyAddresses(checked.addresses),
    method,
    path,
    headers,
    agent: false,
    setHost: false,
  };
  return http.request(options);
}

function endToEndHeaders(headers: IncomingMessage['headers']): IncomingMessage['headers'] {
  const named = new Set((headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase()));
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name) && !named.has(name)));
}

/** The headers of a request. A body has a length or is chunked, so that no server takes it for the next request. */
function requestHeaders(request: IncomingMessage): http.OutgoingHttpHeaders {
  const headers = endToEndHeaders(request.headers);
  const { 'transfer-encoding': chunks, 'content-length': length } = request.headers;
  const isFramed = chunks === undefined && (length === undefined || headers['content-length'] !== undefined);
  return isFramed ? headers : { ...headers, 'transfer-encoding': 'chunked' };
}

const answerText = (status: number, title: string, text: string): string =>
  `HTTP/1.1 ${status} ${title}\r\nContent-Type: text/plain\r\nContent-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`;
