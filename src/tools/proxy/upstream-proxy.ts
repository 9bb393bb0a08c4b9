import http, { type OutgoingHttpHeaders } from 'node:http';
import https from 'node:https';
import { BlockList, isIP, type Socket } from 'node:net';
import type { Env } from '../../base/user-folders.ts';
import { canonicalHost, type HostAndPort, isHostListed, printHostAndPort } from '../../gate/scope/host-names.ts';

/** A proxy that the operator's environment names. */
export interface UpstreamProxy {
  readonly url: URL;
  /** The headers with the user and password of the proxy; empty if its address has no user. */
  readonly login: OutgoingHttpHeaders;
}

/**
 * The proxy that the operator's environment names for a destination; null if it is reached directly. As curl does:
 * `https_proxy` for tunnels, `http_proxy` for plain HTTP, else `all_proxy`, in either case of letters; `no_proxy` lists
 * exceptions (`example.com` with its subdomains, `.example.com`, `10.0.0.5:8080`, `10.0.0.0/8`, `*`).
 * @returns a problem if the variable names no HTTP proxy
 */
export function findUpstreamProxy(
  env: Env,
  kind: 'http' | 'https',
  target: HostAndPort,
): UpstreamProxy | { readonly problem: string } | null {
  const value = (name: string) => env[name] || env[name.toUpperCase()] || '';
  const text = value(`${kind}_proxy`) || value('all_proxy');
  if (text === '' || isExcepted(value('no_proxy'), target)) return null;
  const url = URL.parse(/^[a-z][a-z0-9+]*:\/\//i.test(text) ? text : `http://${text}`);
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.hostname === '')
    return {
      problem: `the operator's ${kind}_proxy or all_proxy is ${/^socks/i.test(text) ? 'a SOCKS proxy' : 'not the address of an HTTP proxy'}, which hopgate cannot use; ask the operator to name an HTTP proxy there, or to list ${target.host} in NO_PROXY`,
    };
  const user = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  const login = user === ':' ? {} : { 'proxy-authorization': `Basic ${Buffer.from(user).toString('base64')}` };
  return { url, login };
}

function isExcepted(list: string, target: HostAndPort): boolean {
  return list
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      const [, subnet, bits] = /^([\da-f.:]+)\/(\d{1,3})$/i.exec(entry) ?? [];
      if (subnet !== undefined) return isInSubnet(subnet, Number(bits), target.host);
      const name = entry.replace(/^\*?\./, '');
      const names = canonicalHost(name) === '' && !/:\d+$/.test(name) ? [] : [name, `*.${name}`];
      return entry === '*' || isHostListed(names, target, !/:\d+$/.test(name));
    });
}

function isInSubnet(subnet: string, bits: number, host: string): boolean {
  const family = isIP(subnet);
  if (family === 0 || isIP(host) !== family || bits > (family === 4 ? 32 : 128)) return false;
  const kind = family === 4 ? 'ipv4' : 'ipv6';
  const list = new BlockList();
  list.addSubnet(subnet, bits, kind);
  return list.check(host, kind);
}

export const requestOptionsForProxy = (
  { url, login }: UpstreamProxy,
  headers: OutgoingHttpHeaders,
): https.RequestOptions => ({
  host: url.hostname.replace(/^\[|\]$/g, ''),
  port: url.port || (url.protocol === 'https:' ? 443 : 80),
  headers: { ...headers, ...login },
  agent: false,
});

/** Node's module for connections to the proxy itself: `http` or `https`. */
export const nodeModuleForProxy = ({ url }: UpstreamProxy): typeof http | typeof https =>
  url.protocol === 'https:' ? https : http;

export const operatorProxyRemedy = (host: string): string =>
  `ask the operator to correct HTTPS_PROXY (with user and password if the proxy wants them), or to list ${host} in NO_PROXY`;

/**
 * Opens a tunnel through the operator's proxy.
 * @throws if the proxy cannot be reached or refuses; the message names neither its user nor its password
 */
export function openProxyTunnel(via: UpstreamProxy, target: HostAndPort): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const path = printHostAndPort(target);
    const fail = (what: string) =>
      reject(new Error(`the proxy ${via.url.host} ${what}; ${operatorProxyRemedy(target.host)}`));
    const request = nodeModuleForProxy(via).request({
      ...requestOptionsForProxy(via, { host: path }),
      method: 'CONNECT',
      path,
    });
    request.setTimeout(CONNECT_MS, () => request.destroy(new Error('timed out')));
    request.once('error', (error) => fail(`cannot be reached: ${error.message}`));
    request.once('connect', ({ statusCode }, socket, head) => {
      if (statusCode !== 200) {
        socket.destroy();
        return fail(`answered ${statusCode} for ${path}`);
      }
      request.setTimeout(0);
      if (head.length > 0) socket.unshift(head);
      resolve(socket as Socket);
    });
    request.once('response', (response) => {
      response.resume();
      fail(`answered ${response.statusCode} for ${path}`);
    });
    request.end();
  });
}

const CONNECT_MS = 60_000;
