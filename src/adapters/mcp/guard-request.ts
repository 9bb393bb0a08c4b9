import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { validateHostHeader, validateOriginHeader } from '@modelcontextprotocol/server';

export interface RequestGuardOptions {
  /** The secret that every request must carry; null if none is required (for tests of the protocol). */
  readonly token: string | null;
  /** Allowed names in the `Host` and `Origin` headers, without ports. */
  readonly hosts: readonly string[];
}

/**
 * Rejects requests that must not reach the protocol: requests of web pages (DNS rebinding), and requests without the
 * token. null if the request may pass. Only checks the headers, so the body of a rejected request is never read.
 */
export function checkRequestHeaders(
  headers: IncomingHttpHeaders,
  { token, hosts }: RequestGuardOptions,
): Response | null {
  const host = validateHostHeader(headers.host, [...hosts]);
  if (!host.ok || headers.host?.includes('@'))
    return makeRefusalResponse(403, 'this server does not answer under the host name of this request');
  const { origin: from } = headers;
  const origin = validateOriginHeader(from, [...hosts]);
  if (!origin.ok) return makeRefusalResponse(403, 'this server does not accept requests from web pages of this origin');
  if (token === null) return null;
  const [, bearer] = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '') ?? [];
  if (bearer !== undefined && isSameText(bearer, token)) return null;
  return makeRefusalResponse(401, 'send the token of this server in the header Authorization: Bearer TOKEN', {
    'www-authenticate': 'Bearer',
  });
}

/** A refusal in the form of a protocol error, so that clients show it. */
export const makeRefusalResponse = (
  status: number,
  message: string,
  headers: { readonly [name: string]: string } = {},
): Response => Response.json({ jsonrpc: '2.0', error: { code: -32000, message }, id: null }, { status, headers });

const isSameText = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
