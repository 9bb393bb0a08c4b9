/**
 * The reason why an address does not lead to an allowed host. `docs.example.com` allows itself, `*.example.com` every
 * subdomain, and only `example.com:8443` a port other than the usual one.
 * @returns null if the address is allowed
 */
export function hostProblem(address: string, allowed: readonly string[]): string | null {
  const url = URL.parse(address);
  if (!url) return 'it is not an address';
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return `${url.protocol} is not a web address`;
  if (url.username !== '' || url.password !== '') return 'it carries a name or password';
  const named = allowed.filter((rule) => portOf(rule) === url.port).map((rule) => rule.replace(/:[0-9]+$/, ''));
  return hostAllowed(url.hostname, named) ? null : `${url.host} is not an allowed host`;
}

/**
 * True if the hosts of a command name a place, `host:port`. A host without a port means the ports 80 and 443.
 */
export function placeAllowed(place: string, hosts: readonly string[]): boolean {
  const at = place.lastIndexOf(':');
  const [host, port] = [bare(place.slice(0, at)), place.slice(at + 1)];
  return hosts.some((rule) => {
    const [, name = '', listed] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(rule.toLowerCase()) ?? [];
    if (listed === undefined ? port !== '80' && port !== '443' : listed !== port) return false;
    return host.includes(':') ? bare(name) === host : hostAllowed(host, [name]);
  });
}

const bare = (host: string): string => host.replace(/^\[|\]$/g, '');

/** The port that a rule names; empty for the usual one. */
const portOf = (rule: string): string => /:([0-9]+)$/.exec(rule)?.[1] ?? '';

/** True if the rules name a host, whatever the port. */
export function hostAllowed(host: string, allowed: readonly string[]): boolean {
  const labels = host.toLowerCase().replace(/\.$/, '').split('.');
  return allowed.some((rule) => {
    const wanted = rule
      .toLowerCase()
      .replace(/:[0-9]+$/, '')
      .split('.');
    if (wanted[0] !== '*') return wanted.length === labels.length && wanted.every((label, i) => label === labels[i]);
    const tail = wanted.slice(1);
    return labels.length > tail.length && tail.every((label, i) => label === labels[labels.length - tail.length + i]);
  });
}
