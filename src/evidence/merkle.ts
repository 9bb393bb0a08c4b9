import { hash } from 'node:crypto';

/** A node of the tree: 32 bytes of SHA-256. */
export type NodeHash = Uint8Array;

const LEAF = new Uint8Array([0]);
const NODE = new Uint8Array([1]);
const sha256 = (...parts: readonly Uint8Array[]): NodeHash => hash('sha256', Buffer.concat(parts), 'buffer');

/** The hash of a leaf (RFC 9162 §2.1.1). */
export const merkleLeafHash = (data: Uint8Array): NodeHash => sha256(LEAF, data);
const nodeHash = (left: NodeHash, right: NodeHash): NodeHash => sha256(NODE, left, right);

/** The data of an entry's leaf: the 32 bytes of the entry's hash. */
export const merkleLeafOfEntry = (entry: { readonly hash: string }): NodeHash =>
  merkleLeafHash(Buffer.from(entry.hash, 'hex'));

export const EMPTY_ROOT: NodeHash = sha256();

/** Computes the root of a Merkle tree leaf by leaf. The memory grows with the logarithm of the number of leaves. */
export class MerkleFrontier {
  #size = 0;
  /** Roots of the complete subtrees so far, the largest first. */
  readonly #peaks: NodeHash[] = [];

  add(leaf: NodeHash): void {
    let node = leaf;
    for (let rest = this.#size; rest % 2 === 1; rest = Math.floor(rest / 2)) node = nodeHash(this.#peaks.pop()!, node);
    this.#peaks.push(node);
    this.#size += 1;
  }

  root(): NodeHash {
    return this.#peaks.length === 0 ? EMPTY_ROOT : this.#peaks.reduceRight((right, left) => nodeHash(left, right));
  }
}
