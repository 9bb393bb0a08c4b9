import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BoundedOutput, cutToHeadAndTail } from '../../../src/tools/sandbox/bounded-output.ts';

const text = fc.string({ unit: fc.constantFrom('a', 'ä', '€', '😀', '\n'), maxLength: 200 });

test('output up to the limit is kept completely, in pieces of any size', () => {
  fc.assert(
    fc.property(text, fc.array(fc.nat(50)), (whole, sizes) => {
      const bytes = Buffer.from(whole);
      const output = new BoundedOutput(bytes.length);
      let at = 0;
      for (const size of sizes) {
        output.push(bytes.subarray(at, at + size));
        at = Math.min(bytes.length, at + size);
      }
      output.push(bytes.subarray(at));
      expect(output.kept()).toEqual({ text: whole, truncated: false });
    }),
  );
});

test('output over the limit keeps its exact head and tail in whole characters, and a count of the rest', () => {
  fc.assert(
    fc.property(text, fc.nat(60), (whole, cap) => {
      fc.pre(Buffer.byteLength(whole) > cap);
      const kept = cutToHeadAndTail(whole, cap);
      expect(kept.truncated).toBe(true);
      const [, head, count, tail] = /^([\s\S]*)\n\[… (\d+) bytes left out[^\]]* …\]\n([\s\S]*)$/.exec(kept.text)!;
      expect(whole.startsWith(head!)).toBe(true);
      expect(whole.endsWith(tail!)).toBe(true);
      expect(Buffer.byteLength(head!) + Buffer.byteLength(tail!)).toBeLessThanOrEqual(cap);
      expect(Buffer.byteLength(head!) + Buffer.byteLength(tail!) + Number(count)).toBe(Buffer.byteLength(whole));
      expect(kept.text).not.toContain('\uFFFD');
    }),
  );
});

test('endless output takes little memory', () => {
  const output = new BoundedOutput(1000);
  for (let i = 0; i < 10_000; i += 1) output.push(Buffer.alloc(700, 'x'));
  expect(output.total).toBe(7_000_000);
  expect(output.kept().text.length).toBeLessThan(1100);
});
