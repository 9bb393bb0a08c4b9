import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { EMPTY_ROOT, merkleLeafHash, merkleLeafOfEntry } from '../../src/evidence/merkle.ts';
import { merkleRoot } from './merkle-root.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** The leaves and roots that the Certificate Transparency projects test with. */
const LEAVES = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f'].map(
  (data) => merkleLeafHash(Buffer.from(data, 'hex')),
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

const leavesOf = (size: number) => Array.from({ length: size }, (_, i) => merkleLeafHash(Buffer.from(`entry ${i}`)));

describe('the Merkle tree of RFC 9162', () => {
  it('has the known roots', () => {
    expect(hex(EMPTY_ROOT)).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    expect(ROOTS.map((_, i) => hex(merkleRoot(LEAVES.slice(0, i + 1))))).toEqual(ROOTS);
  });

  it('has the root of the recursive definition for any size', () => {
    const node = (left: Uint8Array, right: Uint8Array) =>
      hash('sha256', Buffer.concat([Buffer.of(1), left, right]), 'buffer');
    const defined = (leaves: readonly Uint8Array[]): Uint8Array => {
      if (leaves.length === 1) return leaves[0]!;
      const half = 2 ** Math.floor(Math.log2(leaves.length - 1));
      return node(defined(leaves.slice(0, half)), defined(leaves.slice(half)));
    };
    for (let size = 1; size <= 130; size++) expect(hex(merkleRoot(leavesOf(size)))).toBe(hex(defined(leavesOf(size))));
  });

  it('takes the bytes of an entry’s hash as a leaf', () => {
    const hash = 'ab'.repeat(32);
    expect(merkleLeafOfEntry({ hash })).toEqual(merkleLeafHash(Buffer.alloc(32, 0xab)));
  });
});
