import { hash } from 'node:crypto';

/** A node of the tree: 32 bytes of SHA-256. */
export type NodeHash = Uint8Array;

const LEAF = new Uint8Array([0]);
const NODE = new Uint8Array([1]);
const sha256 = (...parts: readonly Uint8Array[]): NodeHash => hash('sha256', Buffer.concat(parts), 'buffer');

/** The hash of a leaf (RFC 9162 §2.1.1). */
export const leafHash = (data: Uint8Array): NodeHash => sha256(LEAF, data);
const nodeHash = (left: NodeHash, right: NodeHash): NodeHash => sha256(NODE, left, right);

/** The leaf of an entry: the 32 bytes of its hash in the chain. */
export const entryLeaf = (entry: { readonly hash: string }): NodeHash => leafHash(Buffer.from(entry.hash, 'hex'));

export const EMPTY_ROOT: NodeHash = sha256();

/** Grows a tree leaf by leaf in memory that grows with the logarithm of its size. */
export class MerkleFrontier {
  #size = 0;
  /** Roots of the full subtrees on the right edge, the largest first. */
  readonly #peaks: NodeHash[] = [];

  get size(): number {
    return this.#size;
  }

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

/** The largest power of two that is smaller than `size`. */
function splitAt(size: number): number {
  let half = 1;
  while (half * 2 < size) half *= 2;
  return half;
}

/** The root over leaves (RFC 9162 §2.1.1). */
export function merkleRoot(leaves: Iterable<NodeHash>): NodeHash {
  const frontier = new MerkleFrontier();
  for (const leaf of leaves) frontier.add(leaf);
  return frontier.root();
}

/**
 * The path from a leaf to the root (RFC 9162 §2.1.3.1).
 * @throws RangeError if there is no such leaf.
 */
export function inclusionProof(leaves: readonly NodeHash[], index: number): NodeHash[] {
  if (!Number.isInteger(index) || index < 0 || index >= leaves.length)
    throw new RangeError(`there is no leaf ${index} among ${leaves.length}`);
  if (leaves.length === 1) return [];
  const half = splitAt(leaves.length);
  const [left, right] = [leaves.slice(0, half), leaves.slice(half)];
  return index < half
    ? [...inclusionProof(left, index), merkleRoot(right)]
    : [...inclusionProof(right, index - half), merkleRoot(left)];
}

/** Whether a proof shows that `leaf` is at `index` in the tree of `size` leaves with this root (RFC 9162 §2.1.3.2). */
export function verifyInclusion(
  {
    root,
    size,
    index,
    leaf,
  }: { readonly root: NodeHash; readonly size: number; readonly index: number; readonly leaf: NodeHash },
  proof: readonly NodeHash[],
): boolean {
  if (!Number.isInteger(index) || index < 0 || index >= size) return false;
  let fn = index;
  let sn = size - 1;
  let node = leaf;
  for (const other of proof) {
    if (sn === 0) return false;
    if (fn % 2 === 1 || fn === sn) {
      node = nodeHash(other, node);
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [Math.floor(fn / 2), Math.floor(sn / 2)];
    } else node = nodeHash(node, other);
    [fn, sn] = [Math.floor(fn / 2), Math.floor(sn / 2)];
  }
  return sn === 0 && same(node, root);
}

/**
 * The proof that the tree of all leaves begins with the tree of the first `size` (RFC 9162 §2.1.4.1).
 * @throws RangeError if `size` is not between 1 and the number of leaves.
 */
export function consistencyProof(leaves: readonly NodeHash[], size: number): NodeHash[] {
  if (!Number.isInteger(size) || size < 1 || size > leaves.length)
    throw new RangeError(`there is no earlier tree of ${size} leaves among ${leaves.length}`);
  return subProof(leaves, size, true);
}

function subProof(leaves: readonly NodeHash[], size: number, whole: boolean): NodeHash[] {
  if (size === leaves.length) return whole ? [] : [merkleRoot(leaves)];
  const half = splitAt(leaves.length);
  const [left, right] = [leaves.slice(0, half), leaves.slice(half)];
  return size <= half
    ? [...subProof(left, size, whole), merkleRoot(right)]
    : [...subProof(right, size - half, false), merkleRoot(left)];
}

export interface TreeHead {
  readonly size: number;
  readonly root: NodeHash;
}

/** Whether a proof shows that the later tree only added to the earlier one (RFC 9162 §2.1.4.2). */
export function verifyConsistency(earlier: TreeHead, later: TreeHead, proof: readonly NodeHash[]): boolean {
  if (earlier.size < 1 || earlier.size > later.size) return false;
  if (earlier.size === later.size) return proof.length === 0 && same(earlier.root, later.root);
  const path = isPowerOfTwo(earlier.size) ? [earlier.root, ...proof] : [...proof];
  const [first, ...rest] = path;
  if (first === undefined) return false;
  let fn = earlier.size - 1;
  let sn = later.size - 1;
  while (fn % 2 === 1) [fn, sn] = [Math.floor(fn / 2), Math.floor(sn / 2)];
  let [fr, sr] = [first, first];
  for (const node of rest) {
    if (sn === 0) return false;
    if (fn % 2 === 1 || fn === sn) {
      fr = nodeHash(node, fr);
      sr = nodeHash(node, sr);
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [Math.floor(fn / 2), Math.floor(sn / 2)];
    } else sr = nodeHash(sr, node);
    [fn, sn] = [Math.floor(fn / 2), Math.floor(sn / 2)];
  }
  return sn === 0 && same(fr, earlier.root) && same(sr, later.root);
}

const isPowerOfTwo = (size: number): boolean => Number.isInteger(Math.log2(size));
const same = (a: NodeHash, b: NodeHash): boolean => Buffer.compare(a, b) === 0;
