import type { Json } from '../../spec/types.ts';
import { type ArgumentRefusal, refuseArgument } from '../commands/argument-refusal.ts';
import { canonicalHost, isHostListed } from './host-names.ts';

/** An allowed URL in canonical form. */
export interface AllowedUrl {
  readonly url: URL;
  /** The host: lower case, punycode, no trailing dot, IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
}

type UrlDecision =
  | { readonly ok: true; readonly judged: AllowedUrl }
  | {
      readonly ok: false;
      readonly code: 'invalid-action' | 'out-of-scope';
      readonly message: string;
      readonly remedy: string;
    };

const MAX_URL = 4096;

/**
 * Parses a URL once to its canonical form and checks host and port against the allow-list: `example.com`,
 * `*.example.com` (subdomains only), `example.com:8443` (required for a non-default port).
 */
export function judgeUrl(text: string, allow: readonly string[]): UrlDecision {
  const form = 'Give a plain https:// address of a listed host.';
  if (text.length > MAX_URL) return malformedUrl(`the address is longer than ${MAX_URL} characters`, form);
  if (/[\u0000-\u0020\u007f-\u00a0\\]/.test(text))
    return malformedUrl('the address contains a control character, a blank or a backslash', form);
  if (!URL.canParse(text)) return malformedUrl(`"${text}" is not an absolute address`, form);
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    return malformedUrl(`${url.protocol} is not a web address`, form);
  // Browsers repair "https:host" and "https:///host", but other programs do not, so both forms are refused.
  if (!/^https?:\/\/[^/]/i.test(text)) return malformedUrl(`"${text}" does not name its host after "//"`, form);
  if (url.username !== '' || url.password !== '' || /^[^/]*\/\/[^/?#]*@/.test(text))
    return malformedUrl('the address contains a user name', form);
  url.hash = '';
  const host = canonicalHost(url.hostname);
  if (host === '') return malformedUrl('the address has no host', form);
  const port = Number(url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : url.port);
  if (allow.length === 0)
    return urlOutOfScope(
      'no hosts are allowed',
      'Ask the operator to list hosts under web.allow in hopgate.yaml, or, if they are listed there, to trust the file (`hopgate trust`).',
    );
  if (!isHostListed(allow, { host, port }, url.port === ''))
    return urlOutOfScope(
      `${url.host} is not listed`,
      `Fetch from one of: ${allow.join(', ')}; or ask the operator to list it under web.allow in hopgate.yaml.`,
    );
  return { ok: true, judged: { url, host, port } };
}

function malformedUrl(message: string, remedy: string): UrlDecision {
  return { ok: false, code: 'invalid-action', message, remedy };
}

function urlOutOfScope(message: string, remedy: string): UrlDecision {
  return { ok: false, code: 'out-of-scope', message, remedy };
}

/** The reason why a scope does not grant a URL argument, or a list of URLs; null if it grants it. */
export function urlProblem(
  argument: string,
  value: Json | undefined,
  allow: readonly string[],
): ArgumentRefusal | null {
  for (const text of [value].flat()) {
    if (typeof text !== 'string')
      return refuseArgument(argument, `"${argument}" must be an address.`, 'Give a https:// address.');
    const decision = judgeUrl(text, allow);
    if (decision.ok) continue;
    const { code, message, remedy } = decision;
    return { refusal: { code, argument, message: `${message}.`, remedy } };
  }
  return null;
}
