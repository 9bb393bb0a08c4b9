import { domainToASCII } from 'node:url';

// `node:net` is loaded at the first host: loading takes two milliseconds, and most hooks name no host.
const isIP = (host: string): number => process.getBuiltinModule('node:net').isIP(host);

/** A host in canonical form (see {@link canonicalHost}) and a port. */
export interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

/** The ports that a listed host without a port allows. */
const USUAL_PORTS = [80, 443];

/**
 * A host in lower case, in punycode, without a trailing dot or brackets; a numeric address in its usual form. Empty if
 * the text is not a host.
 *
 * @example
 * canonicalHost('Example.COM.'); // 'example.com'
 * canonicalHost('0x7f.1'); // '127.0.0.1'
 */
export function canonicalHost(text: string): string {
  if (!/^(?:[\p{L}\p{N}._-]+|\[[\da-f:.]+\])$/iu.test(text)) return '';
  const host = text.startsWith('[') ? text : domainToASCII(text);
  const url = `http://${host}/`;
  if (host === '' || !URL.canParse(url)) return '';
  return new URL(url).hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}

/** A host and a port: `example.com:443`, `[::1]:8080`. Null if the text is something else. */
export function parseHostAndPort(text: string): HostAndPort | null {
  const [, name = '', digits = ''] = /^(.*):(\d{1,5})$/.exec(text) ?? [];
  const [host, port] = [canonicalHost(name), Number(digits)];
  return host === '' || port < 1 || port > 65_535 ? null : { host, port };
}

/** The text of a host and a port, in evidence and results: the inverse of {@link parseHostAndPort}. */
export const printHostAndPort = ({ host, port }: HostAndPort): string =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`;

/**
 * True if a list allows a host and port: `example.com` (usual ports only), `*.example.com` (subdomains only),
 * `example.com:8443`, `10.0.0.5:22`, `[::1]:8080`.
 * @param isUsualPort true if the list need not name the port; default: for 80 and 443
 */
export function isHostListed(
  list: readonly string[],
  { host, port }: HostAndPort,
  isUsualPort = USUAL_PORTS.includes(port),
): boolean {
  return list.some((pattern) => {
    const [, name = '', listedPort] = /^(\[.*\]|[^:]*)(?::(\d+))?$/.exec(pattern.trim()) ?? [];
    if (listedPort === undefined ? !isUsualPort : Number(listedPort) !== port) return false;
    if (!name.startsWith('*.')) return name !== '' && canonicalHost(name) === host;
    const parent = canonicalHost(name.slice(2));
    return parent.includes('.') && isIP(host) === 0 && host.endsWith(`.${parent}`) && host.length > parent.length + 1;
  });
}

/**
 * The reason why a command may not connect to a host; null if it may. An address that is not public must be listed as
 * an address, because the owner of a name decides where the name leads.
 * @param addresses the addresses of the host's name; empty before they are known
 */
export function connectionProblem(
  list: readonly string[],
  target: HostAndPort,
  addresses: readonly string[],
  isPublic: (address: string) => boolean,
): string | null {
  if (!isHostListed(list, target)) return 'the host is not in the list of allowed hosts';
  const notPublic = addresses.find(
    (address) => !isPublic(address) && !isHostListed(list, { ...target, host: address }),
  );
  if (notPublic === undefined) return null;
  return notPublic === target.host
    ? `${notPublic} is not a public address`
    : `the name leads to ${notPublic}, which is not a public address`;
}
