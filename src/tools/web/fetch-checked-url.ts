import { lookup as dnsLookup } from 'node:dns/promises';
import http, { type ClientRequest, type OutgoingHttpHeaders } from 'node:http';
import https from 'node:https';
import { isIP, isIPv4 } from 'node:net';
import { rejectOnAbort } from '../../base/limited-wait.ts';
import type { AllowedUrl } from '../../gate/scope/judge-url.ts';
import {
  findUpstreamProxy,
  nodeModuleForProxy,
  openProxyTunnel,
  requestOptionsForProxy,
  type UpstreamProxy,
} from '../proxy/upstream-proxy.ts';
import { looksLikeHtml, looksLikeText } from './decode-text.ts';
import { decompressResponse } from './decompress.ts';
import { isPublicAddress, lookupOnlyAddresses } from './public-address.ts';

/** The name resolver and the address policy. Only tests replace them; no configuration can. */
export interface FetchNetwork {
  resolve(host: string): Promise<readonly string[]>;
  mayReach(address: string): boolean;
  /** The operator's environment, which may name a proxy. */
  readonly env?: NodeJS.ProcessEnv;
  /** More options of the connection, such as a test's certificate authority. */
  readonly tls?: https.RequestOptions;
}

export const INTERNET_NETWORK: FetchNetwork = {
  resolve: async (host) => (await dnsLookup(host, { all: true, verbatim: true })).map(({ address }) => address),
  mayReach: isPublicAddress,
  env: process.env,
};

export type FetchAnswer =
  | { readonly kind: 'redirect'; readonly location: string; readonly status: number }
  | {
      readonly kind: 'body';
      readonly status: number;
      readonly type: string;
      readonly bytes: Buffer;
      readonly truncated: boolean;
    }
  | { readonly kind: 'blocked'; readonly address: string }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string };

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

interface Limits {
  readonly bytes: number;
  readonly accepts: (type: string) => boolean;
  readonly signal: AbortSignal;
}

/** Gets one URL, from a checked address (DNS rebinding), or by the operator's proxy, which then resolves the name. */
export async function fetchCheckedUrl(target: AllowedUrl, network: FetchNetwork, limits: Limits): Promise<FetchAnswer> {
  const kind = target.url.protocol === 'https:' ? 'https' : 'http';
  const via = findUpstreamProxy(network.env ?? {}, kind, target);
  if (via && 'problem' in via) return failure('unusable-proxy', via.problem);
  let addresses: readonly string[];
  try {
    addresses =
      isIP(target.host) === 0 ? await rejectOnAbort(network.resolve(target.host), limits.signal) : [target.host];
  } catch (error) {
    if (limits.signal.aborted) return abortedAnswer();
    if (!via) return failure('name-not-found', `${target.host} has no address: ${(error as Error).message}`);
    addresses = [];
  }
  const refused = addresses.find((address) => !network.mayReach(address));
  if (refused !== undefined) return { kind: 'blocked', address: refused };
  if (via) return connectVia(via, target, network, limits);
  if (addresses[0] === undefined) return failure('name-not-found', `${target.host} has no address`);
  return connect(target, addresses, network, limits);
}

const isSecure = ({ url }: AllowedUrl): boolean => url.protocol === 'https:';

type GetOptions = https.RequestOptions & { readonly headers: OutgoingHttpHeaders };

const requestOptions = (target: AllowedUrl, network: FetchNetwork, { signal }: Limits): GetOptions => ({
  ...(isSecure(target) ? network.tls : {}),
  method: 'GET',
  host: target.host,
  port: target.port,
  path: `${target.url.pathname}${target.url.search}`,
  agent: false,
  signal,
  maxHeaderSize: 32_768,
  headers: {
    host: target.url.host,
    'user-agent': 'hopgate',
    accept: 'text/html,text/plain,application/json,text/markdown,application/xml;q=0.9,*/*;q=0.1',
    'accept-encoding': 'gzip, deflate, br',
  },
  ...(isSecure(target) && isIP(target.host) === 0 ? { servername: target.host } : {}),
});

function connect(
  target: AllowedUrl,
  addresses: readonly string[],
  network: FetchNetwork,
  limits: Limits,
): Promise<FetchAnswer> {
  const options = { ...requestOptions(target, network, limits), ...lookupOnlyAddresses(addresses) };
  // Checks the address of the connection, in case a library ignores the restricted lookup.
  const check = (remote: string | undefined) =>
    remote !== undefined && addresses.some((address) => sameAddress(address, remote)) ? null : (remote ?? 'unknown');
  return receiveAnswer((isSecure(target) ? https : http).request(options), target, limits, check);
}

/** Connects through the operator's proxy: by a tunnel for https, else by a request with the full address. */
async function connectVia(
  via: UpstreamProxy,
  target: AllowedUrl,
  network: FetchNetwork,
  limits: Limits,
): Promise<FetchAnswer> {
  const options = requestOptions(target, network, limits);
  if (!isSecure(target)) {
    const plain = { ...options, ...requestOptionsForProxy(via, options.headers), path: target.url.href };
    return receiveAnswer(nodeModuleForProxy(via).request(plain), target, limits);
  }
  const opening = openProxyTunnel(via, target);
  try {
    const socket = await rejectOnAbort(opening, limits.signal);
    return await receiveAnswer(https.request({ ...options, socket } as https.RequestOptions), target, limits);
  } catch (error) {
    opening.then(
      (socket) => socket.destroy(),
      () => {},
    );
    return fetchFailure(limits, (error as Error).message);
  }
}

/**
 * Sends the request and reads the answer.
 * @param check returns the connection's address if it may not answer; null if it may
 */
function receiveAnswer(
  request: ClientRequest,
  { host }: AllowedUrl,
  limits: Limits,
  check: (remote: string | undefined) => string | null = () => null,
): Promise<FetchAnswer> {
  return new Promise((settle) => {
    request.on('error', (error: NodeJS.ErrnoException) =>
      settle(fetchFailure(limits, `the fetch from ${host} failed: ${error.message}`)),
    );
    request.on('response', (response) => {
      const end = (answer: FetchAnswer) => {
        request.destroy();
        settle(answer);
      };
      const address = check(response.socket.remoteAddress);
      if (address !== null) end({ kind: 'blocked', address });
      else readResponse(response, limits, end);
    });
    request.end();
  });
}

/** @param end closes the connection and settles the fetch; later calls have no effect */
function readResponse(response: http.IncomingMessage, limits: Limits, end: (answer: FetchAnswer) => void): void {
  const status = response.statusCode ?? 0;
  const { location } = response.headers;
  if (REDIRECTS.has(status) && location !== undefined) return end({ kind: 'redirect', location, status });
  const declared = response.headers['content-type']?.trim().toLowerCase() || null;
  const notText = (type: string) => end(failure('not-text', `the answer is ${type}, which is not text`));
  if (declared !== null && !limits.accepts(declared)) return notText(declared);
  const body = decompressResponse(response);
  const encoding = response.headers['content-encoding'];
  if (body === null)
    return end(failure('fetch-failed', `the answer is encoded as ${encoding}, which hopgate cannot decode`));
  const chunks: Buffer[] = [];
  let size = 0;
  const finish = (truncated: boolean) => {
    const bytes = Buffer.concat(chunks);
    if (declared === null && !looksLikeText(bytes)) notText('of no declared type and binary');
    else {
      const type = declared ?? (looksLikeHtml(bytes) ? 'text/html' : 'text/plain');
      end({ kind: 'body', status, type, bytes, truncated });
    }
  };
  const fail = (error: Error) => end(fetchFailure(limits, `the answer was cut off: ${error.message}`));
  response.on('error', fail);
  body.on('error', fail);
  body.on('end', () => finish(false));
  body.on('data', (chunk: Buffer) => {
    const part = chunk.subarray(0, limits.bytes - size);
    chunks.push(part);
    size += part.length;
    if (part.length < chunk.length) {
      body.removeAllListeners('data');
      finish(true);
      body.destroy();
    }
  });
}

/** A dual-stack socket reports an IPv4 peer in its mapped form. */
function sameAddress(expected: string, actual: string): boolean {
  return (
    expected === actual ||
    (isIPv4(expected) && actual === `::ffff:${expected}`) ||
    canonical(expected) === canonical(actual)
  );
}

const canonical = (address: string): string => (isIPv4(address) ? address : new URL(`http://[${address}]/`).hostname);

const failure = (code: string, message: string): FetchAnswer => ({ kind: 'failed', code, message });
const fetchFailure = ({ signal }: Limits, message: string): FetchAnswer =>
  signal.aborted ? abortedAnswer() : failure('fetch-failed', message);
const abortedAnswer = (): FetchAnswer => failure('aborted', 'the call ended before the answer came');
