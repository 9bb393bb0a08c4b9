import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { canonicalJson } from '../../src/evidence/canonical.ts';
import type { Json } from '../../src/spec/types.ts';

it('canonical JSON is spelled as in RFC 8785 (compared with the reference implementation)', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
      expect(canonicalJson(value as Json)).toBe(canonicalize(value));
    }),
    { numRuns: 1000 },
  );
});

it.each<[Json, string]>([
  [{ 10: 1, 9: 2, a: { c: 1, b: [-0, 1e21] } }, '{"10":1,"9":2,"a":{"b":[0,1e+21],"c":1}}'],
  [{ '\ufb33': 1, '\u{1f600}': 2, '\u20ac': 3 }, '{"€":3,"😀":2,"\ufb33":1}'],
])('the keys of %j are ordered by their UTF-16 units', (value, text) => {
  expect(canonicalJson(value)).toBe(text);
});
