import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { validateHostHeader, validateOriginHeader } from '@modelcontextprotocol/server';

export interface GuardOptions {
  /** The secret that every request has to bear; null: none (for tests of the protocol). */
  readonly token: string | null;
  /** Names that the `Host` and `Origin` headers may bear, without ports. */
  readonly hosts: readonly string[];
}

/**
 * Turns away what must not get as far as the protocol: a web page's requests (DNS rebinding) and whoever lacks the token. null: it may pass. Looks
 * at the headers only, so that nothing of such a request is read.
 */
export function turnAway(headers: IncomingHttpHeaders, { token, hosts }: GuardOptions): Response | null {
  const host = validateHostHeader(headers.host, [...hosts]);
  if (!host.ok || headers.host?.includes('@'))
    return refuseRequest(403, 'this server does not answer under that host name');
  const { origin: from } = headers;
  const origin = validateOriginHeader(from, [...hosts]);
  if (!origin.ok) return refuseRequest(403, 'this server does not answer to web pages of that origin');
  if (token === null) return null;
  const [, given] = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '') ?? [];
  if (given !== undefined && same(given, token)) return null;
  return refuseRequest(
    401,
    'send the token that "hopgate mcp --http" printed, in the header Authorization: Bearer TOKEN',
    {
      'www-authenticate': 'Bearer',
    },
  );
}

/** In the form of the protocol's errors, so that clients show it. */
export const refuseRequest = (
  status: number,
  message: string,
  headers: { readonly [name: string]: string } = {},
): Response => Response.json({ jsonrpc: '2.0', error: { code: -32000, message }, id: null }, { status, headers });

const same = (one: string, other: string): boolean => timingSafeEqual(digest(one), digest(other));
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
