import { BlockList, isIP, isIPv4, type LookupFunction } from 'node:net';

/** Non-public ranges: [network, prefix]. Source: RFC 6890 and its successors. */
const BLOCKED_V4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

/** Everything outside global unicast (`2000::/3`) is blocked, and these ranges inside it. */
const BLOCKED_V6: readonly (readonly [string, number])[] = [
  ['::', 3],
  ['4000::', 2],
  ['8000::', 1],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['2620:4f:8000::', 48],
  ['3fff::', 20],
];

// Two lists: one list would match IPv4 addresses in mapped form against the IPv6 ranges.
const blockedV4 = new BlockList();
const blockedV6 = new BlockList();
for (const [network, prefix] of BLOCKED_V4) blockedV4.addSubnet(network, prefix, 'ipv4');
for (const [network, prefix] of BLOCKED_V6) blockedV6.addSubnet(network, prefix, 'ipv6');

/**
 * Returns true for a public internet address. False for private, loopback, link-local, carrier-grade NAT, multicast,
 * unspecified and documentation ranges, and for IPv6 forms that embed an IPv4 address (mapped, compatible, NAT64, 6to4,
 * Teredo).
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0 || address.includes('%')) return false;
  return isIPv4(address) ? !blockedV4.check(address, 'ipv4') : !blockedV6.check(address, 'ipv6');
}

/** Connection options that reach only checked addresses: later answers for the name have no effect (DNS rebinding). */
export function lookupOnlyAddresses(addresses: readonly string[]): {
  readonly lookup: LookupFunction;
  readonly autoSelectFamily: true;
} {
  const pinned = addresses.map((address) => ({ address, family: isIPv4(address) ? 4 : 6 }));
  return {
    lookup: (_, options, done) =>
      options.all ? done(null, pinned) : done(null, pinned[0]!.address, pinned[0]!.family),
    autoSelectFamily: true,
  };
}
