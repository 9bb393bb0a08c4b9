import { MerkleFrontier, type NodeHash } from '../../src/evidence/merkle.ts';

/** The root over leaves (RFC 9162 §2.1.1). */
export function merkleRoot(leaves: Iterable<NodeHash>): NodeHash {
  const frontier = new MerkleFrontier();
  for (const leaf of leaves) frontier.add(leaf);
  return frontier.root();
}
