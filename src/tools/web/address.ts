import { BlockList, isIP, isIPv4 } from 'node:net';

/** Ranges that are not the public internet: [network, prefix]. RFC 6890 and its successors. */
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

/** Global unicast is `2000::/3`; whatever lies outside it is blocked, and these inside it too. */
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

// One list each: a list for both would match IPv4 addresses against the IPv6 ranges, in their mapped form.
const blockedV4 = new BlockList();
const blockedV6 = new BlockList();
for (const [network, prefix] of BLOCKED_V4) blockedV4.addSubnet(network, prefix, 'ipv4');
for (const [network, prefix] of BLOCKED_V6) blockedV6.addSubnet(network, prefix, 'ipv6');

/**
 * Whether an address is one of the public internet. Private, loopback, link-local, carrier, multicast, unspecified and documentation ranges are
 * not, nor is any IPv6 form that carries an IPv4 address (mapped, compatible, NAT64, 6to4, Teredo): such a host is reached by its own IPv4.
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0 || address.includes('%')) return false;
  return isIPv4(address) ? !blockedV4.check(address, 'ipv4') : !blockedV6.check(address, 'ipv6');
}
