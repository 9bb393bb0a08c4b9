import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  consistencyProof,
  EMPTY_ROOT,
  entryLeaf,
  inclusionProof,
  leafHash,
  MerkleFrontier,
  merkleRoot,
  verifyConsistency,
  verifyInclusion,
} from '../../src/evidence/merkle.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** The leaves and roots that the Certificate Transparency projects test with. */
const LEAVES = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f'].map(
  (data) => leafHash(Buffer.from(data, 'hex')),
);
const ROOTS = [
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];

const leavesOf = (size: number) => Array.from({ length: size }, (_, i) => leafHash(Buffer.from(`entry ${i}`)));
const flip = (node: Uint8Array): Uint8Array => Uint8Array.from(node, (byte, i) => (i === 7 ? byte ^ 1 : byte));

describe('the Merkle tree of RFC 9162', () => {
  it('has the known roots', () => {
    expect(hex(EMPTY_ROOT)).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    expect(ROOTS.map((_, i) => hex(merkleRoot(LEAVES.slice(0, i + 1))))).toEqual(ROOTS);
  });

  it('gives the known proofs', () => {
    expect(inclusionProof(LEAVES, 0).map(hex)).toEqual([
      '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7',
      '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
      '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4',
    ]);
    expect(consistencyProof(LEAVES, 6).map(hex)).toEqual([
      '0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a',
      'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
      'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    ]);
  });

  it('grows to the same root leaf by leaf', () => {
    const frontier = new MerkleFrontier();
    const leaves = leavesOf(130);
    for (const [i, leaf] of leaves.entries()) {
      frontier.add(leaf);
      expect(hex(frontier.root())).toBe(hex(merkleRoot(leaves.slice(0, i + 1))));
    }
  });

  it('proves every leaf of every tree up to 40, and no other leaf, place or root', () => {
    for (let size = 1; size <= 40; size++) {
      const leaves = leavesOf(size);
      const root = merkleRoot(leaves);
      for (let index = 0; index < size; index++) {
        const proof = inclusionProof(leaves, index);
        const leaf = leaves[index]!;
        expect(verifyInclusion({ root, size, index, leaf }, proof)).toBe(true);
        expect(verifyInclusion({ root: flip(root), size, index, leaf }, proof)).toBe(false);
        expect(verifyInclusion({ root, size, index, leaf: flip(leaf) }, proof)).toBe(false);
        expect(verifyInclusion({ root, size, index: index + 1, leaf }, proof)).toBe(false);
        expect(verifyInclusion({ root, size, index, leaf }, [...proof, leaf])).toBe(false);
        if (proof.length > 0) expect(verifyInclusion({ root, size, index, leaf }, proof.slice(1))).toBe(false);
      }
    }
  });

  it('proves every earlier tree up to 40, and nothing that is not one', () => {
    for (let size = 1; size <= 40; size++) {
      const leaves = leavesOf(size);
      const later = { size, root: merkleRoot(leaves) };
      for (let first = 1; first <= size; first++) {
        const earlier = { size: first, root: merkleRoot(leaves.slice(0, first)) };
        const proof = consistencyProof(leaves, first);
        expect(verifyConsistency(earlier, later, proof)).toBe(true);
        expect(verifyConsistency({ ...earlier, root: flip(earlier.root) }, later, proof)).toBe(false);
        expect(verifyConsistency(earlier, { ...later, root: flip(later.root) }, proof)).toBe(false);
        for (const [i, node] of proof.entries())
          expect(verifyConsistency(earlier, later, proof.with(i, flip(node)))).toBe(false);
      }
    }
  });

  it('refuses sizes that make no sense', () => {
    fc.assert(
      fc.property(fc.integer({ min: -3, max: 12 }), (index) => {
        fc.pre(index < 0 || index >= 8);
        expect(() => inclusionProof(LEAVES, index)).toThrow(RangeError);
      }),
    );
    expect(() => consistencyProof(LEAVES, 0)).toThrow(RangeError);
    expect(() => consistencyProof(LEAVES, 9)).toThrow(RangeError);
  });

  it('says which sizes make none', () => {
    expect(() => inclusionProof(LEAVES, 8)).toThrow('there is no leaf 8 among 8');
    expect(() => consistencyProof(LEAVES, 9)).toThrow('there is no earlier tree of 9 leaves among 8');
    for (const size of [0, -1, 1.5, Number.NaN]) expect(() => consistencyProof(LEAVES, size)).toThrow(RangeError);
  });

  it('takes no proof for a place or a tree that cannot be', () => {
    const [root, leaf] = [merkleRoot(LEAVES), LEAVES[0]!];
    for (const index of [-1, 0.5, 8, Number.NaN])
      for (const proof of [[], inclusionProof(LEAVES, 0)])
        expect(verifyInclusion({ root, size: 8, index, leaf }, proof)).toBe(false);
    expect(verifyInclusion({ root: leaf, size: 1, index: 0, leaf }, [leaf])).toBe(false);
    const tree = { size: 8, root };
    for (const size of [0, -1, 9]) expect(verifyConsistency({ size, root: EMPTY_ROOT }, tree, [])).toBe(false);
    expect(verifyConsistency(tree, tree, [])).toBe(true);
    expect(verifyConsistency(tree, tree, [root])).toBe(false);
    expect(verifyConsistency({ size: 3, root }, tree, [])).toBe(false);
    const three = { size: 3, root: merkleRoot(LEAVES.slice(0, 3)) };
    const proof = consistencyProof(LEAVES, 3);
    expect(verifyConsistency(three, tree, [...proof, root])).toBe(false);
    expect(verifyConsistency(three, tree, proof.slice(0, -1))).toBe(false);
    expect(verifyConsistency({ ...three, size: 4 }, tree, proof)).toBe(false);
  });

  it('knows how many leaves it has', () => {
    const frontier = new MerkleFrontier();
    expect(frontier.size).toBe(0);
    frontier.add(LEAVES[0]!);
    frontier.add(LEAVES[1]!);
    expect(frontier.size).toBe(2);
  });

  it('takes an entry by the bytes of its hash', () => {
    const hash = 'ab'.repeat(32);
    expect(entryLeaf({ hash })).toEqual(leafHash(Buffer.alloc(32, 0xab)));
  });
});
