import { isIP } from 'node:net';
import { invalidActionReason, outOfScopeReason, type RefusalReason } from './commands/audited-git.ts';

/**
 * The reason why an address does not lead to an allowed host; null if it does. `docs.example.com` allows itself,
 * `*.example.com` every subdomain, and only `example.com:8443` a port other than the usual one.
 */
export function urlRefusalReason(address: unknown, allowed: readonly string[]): RefusalReason | null {
  if (typeof address !== 'string' || address.length > 4096 || /[\u0000-\u0020\u007f-\u00a0\\]/.test(address))
    return invalidActionReason('the value is not an address');
  const url = URL.parse(address);
  if (!url) return invalidActionReason('the value is not an address');
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    return invalidActionReason(`${url.protocol} is not a web address`);
  const [, authority = ''] = /^\w+:\/\/([^/?#]*)/.exec(address) ?? [];
  if (authority === '') return invalidActionReason('the host of the address does not follow "//"');
  if (url.username !== '' || url.password !== '' || authority.includes('@'))
    return invalidActionReason('the address contains a user name or password');
  const host = hostOf(url.hostname);
  if (host === '') return invalidActionReason('the address has no host');
  const usual = url.protocol === 'https:' ? '443' : '80';
  const may = allowed.some((rule) => {
    const [, name = '', port] = /^(\[.*\]|[^:]*)(?::(\d+))?$/.exec(rule.trim()) ?? [];
    const fitsPort = port === undefined ? url.port === '' : Number(port) === Number(url.port || usual);
    return fitsPort && fitsHost(name, host);
  });
  return may ? null : outOfScopeReason(`${url.host} is not an allowed host`);
}

function fitsHost(rule: string, host: string): boolean {
  if (!rule.startsWith('*.')) return rule !== '' && hostOf(rule) === host;
  const parent = hostOf(rule.slice(2));
  return parent.includes('.') && isIP(host) === 0 && host.endsWith(`.${parent}`);
}

/** A host as URLs normalise it: lower case, punycode, no brackets and no trailing dot; empty if it is not a host. */
function hostOf(text: string): string {
  if (/[^\p{L}\p{N}._:[\]-]/u.test(text)) return '';
  return withoutBrackets(URL.parse(`http://${text}/`)?.hostname ?? '').replace(/\.$/, '');
}

/** True if the hosts of a command name the `host:port`. A host without a port means the ports 80 and 443. */
export function isEndpointAllowed(target: string, hosts: readonly string[]): boolean {
  const at = target.lastIndexOf(':');
  const [host, port] = [withoutBrackets(target.slice(0, at)), target.slice(at + 1)];
  return hosts.some((rule) => {
    const [, name = '', listed] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(rule.toLowerCase()) ?? [];
    if (listed === undefined ? port !== '80' && port !== '443' : listed !== port) return false;
    return host.includes(':') ? withoutBrackets(name) === host : isHostAllowed(host, [name]);
  });
}

const withoutBrackets = (host: string): string => host.replace(/^\[|\]$/g, '');

/** True if the rules name a host, whatever the port. */
export function isHostAllowed(host: string, allowed: readonly string[]): boolean {
  const labels = host.toLowerCase().replace(/\.$/, '').split('.');
  return allowed.some((rule) => {
    const ruleLabels = withoutBrackets(rule.toLowerCase().replace(/:[0-9]+$/, '')).split('.');
    if (ruleLabels[0] !== '*')
      return ruleLabels.length === labels.length && ruleLabels.every((label, i) => label === labels[i]);
    const tail = ruleLabels.slice(1);
    return labels.length > tail.length && tail.every((label, i) => label === labels[labels.length - tail.length + i]);
  });
}
