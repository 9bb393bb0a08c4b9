import { canonicalHost, listsPlace } from '../../gate/scope/hosts.ts';

/** An allowed URL in canonical form. */
export interface JudgedUrl {
  readonly url: URL;
  /** Lower case, punycode, no trailing dot, IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
}

export type UrlVerdict =
  | { readonly ok: true; readonly judged: JudgedUrl }
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
export function judgeUrl(text: string, allow: readonly string[]): UrlVerdict {
  const form = 'Give a plain https:// address of a listed host.';
  if (text.length > MAX_URL) return invalid(`the address is longer than ${MAX_URL} characters`, form);
  if (/[\u0000-\u0020\u007f-\u00a0\\]/.test(text))
    return invalid('the address contains a control character, a blank or a backslash', form);
  if (!URL.canParse(text)) return invalid(`"${text}" is not an absolute address`, form);
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    return invalid(`${url.protocol} is not a web address`, form);
  if (url.username !== '' || url.password !== '' || /^[^/]*\/\/[^/?#]*@/.test(text))
    return invalid('the address contains a user name', form);
  url.hash = '';
  const host = canonicalHost(url.hostname);
  if (host === '') return invalid('the address has no host', form);
  const port = Number(url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : url.port);
  if (allow.length === 0)
    return outside(
      'no hosts are allowed',
      'Ask the operator to list hosts under web.allow in hopgate.yaml, or, where they are listed, to accept the file (`hopgate trust`).',
    );
  if (!listsPlace(allow, { host, port }, url.port === ''))
    return outside(
      `${url.host} is not listed`,
      `Fetch from one of: ${allow.join(', ')}; or ask the operator to list it under web.allow in hopgate.yaml.`,
    );
  return { ok: true, judged: { url, host, port } };
}

function invalid(message: string, remedy: string): UrlVerdict {
  return { ok: false, code: 'invalid-action', message, remedy };
}

function outside(message: string, remedy: string): UrlVerdict {
  return { ok: false, code: 'out-of-scope', message, remedy };
}
