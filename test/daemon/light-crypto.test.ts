import * as node from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as light from '../../src/daemon/light-crypto.ts';
import { MODULE, Sha256 } from '../../src/daemon/sha256.ts';
import { assembled } from './sha256-module.ts';

describe('the hook’s own sha256', () => {
  const sha256 = new Sha256();

  it('is what its source assembles to', () => {
    expect(Buffer.from(MODULE, 'base64').equals(assembled())).toBe(true);
  });

  it.each([
    ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
  ])('has the published digest of "%s"', (text, digest) => {
    expect(sha256.hex(Buffer.from(text))).toBe(digest);
  });

  it('agrees with Node for every length around its blocks and its memory', () => {
    const message = node.randomBytes(200_000);
    const around = [0, 64, 128, 4096, 64_832, 64_896, 64_960, 65_536, 2 * 64_832, 2 * 64_896, 200_000 - 70];
    for (const from of around)
      for (let length = Math.max(0, from - 70); length <= from + 70; length++) {
        const part = message.subarray(0, length);
        expect(sha256.hex(part), `${length}`).toBe(node.hash('sha256', part));
      }
  });

  it('agrees with Node, whatever was hashed before', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (message) => {
        expect(sha256.hex(message)).toBe(node.hash('sha256', message));
      }),
    );
  });
});

describe('what stands for node:crypto in the hook’s bundle', () => {
  it('hashes texts and bytes as Node does', () => {
    const large = Buffer.alloc(300_000, 'a');
    for (const data of ['', 'ä\ud800', large.toString(), large, large.subarray(3, 17), new Uint8Array([1, 2])]) {
      expect(light.hash('sha256', data)).toBe(node.hash('sha256', data));
      expect(light.hash('sha256', data, 'buffer')).toEqual(node.hash('sha256', data, 'buffer'));
      expect(light.hash('sha512', data)).toBe(node.hash('sha512', data));
    }
  });

  it('hashes in parts as Node does', () => {
    const parts = fc.array(fc.oneof(fc.string(), fc.uint8Array(), fc.constant(Buffer.alloc(200_000, 'b'))), {
      maxLength: 5,
    });
    fc.assert(
      fc.property(parts, (parts) => {
        const [ours, theirs] = [light.createHash('sha256'), node.createHash('sha256')];
        for (const part of parts) {
          ours.update(part);
          theirs.update(part);
        }
        expect(ours.digest('hex')).toBe(theirs.digest('hex'));
      }),
    );
  });

  it('keeps the bytes that it was given, whatever becomes of them', () => {
    const bytes = Buffer.from('before');
    const hash = light.createHash('sha256').update(bytes);
    bytes.fill(0);
    expect(hash.digest('hex')).toBe(node.hash('sha256', 'before'));
  });

  it('leaves the rest to Node', () => {
    const [a, b] = [Buffer.from('same'), Buffer.from('else')];
    expect([light.timingSafeEqual(a, a), light.timingSafeEqual(a, b)]).toEqual([true, false]);
    expect(light.randomUUID()).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(light.randomInt(1)).toBe(0);
    const theirs = node.createHmac('sha256', 'key').update(a).digest('hex');
    expect(light.createHmac('sha256', 'key').update(a).digest('hex')).toBe(theirs);
  });

  it('gives out random bytes once', () => {
    const seen = new Set<string>();
    for (let i = 0; i < 1000; i++) seen.add(light.randomBytes(16).toString('hex'));
    expect(seen.size).toBe(1000);
    for (const size of [0, 1, 200, 256, 257, 5000]) expect(light.randomBytes(size).length).toBe(size);
  });
});
