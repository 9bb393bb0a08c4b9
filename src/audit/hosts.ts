/**
 * Whether an address leads to an allowed host: `docs.example.com` means itself, `*.example.com` every host beneath it.
 * Null when it does, else why it does not.
 */
export function hostProblem(address: string, allowed: readonly string[]): string | null {
  const url = URL.parse(address);
  if (!url) return 'it is no address';
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return `${url.protocol} is no web address`;
  if (url.username !== '' || url.password !== '') return 'it carries a name or password';
  return hostAllowed(url.hostname, allowed) ? null : `${url.hostname} is not an allowed host`;
}

export function hostAllowed(host: string, allowed: readonly string[]): boolean {
  const labels = host.toLowerCase().replace(/\.$/, '').split('.');
  return allowed.some((rule) => {
    const wanted = rule.toLowerCase().split('.');
    if (wanted[0] !== '*') return wanted.length === labels.length && wanted.every((label, i) => label === labels[i]);
    const tail = wanted.slice(1);
    return labels.length > tail.length && tail.every((label, i) => label === labels[labels.length - tail.length + i]);
  });
}
