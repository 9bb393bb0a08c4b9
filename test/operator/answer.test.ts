import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AnswerTerms, parseAnswer, problemOfAnswer, signAnswer } from '../../src/operator/signed-answer.ts';

const hex = (length: number) =>
  fc.array(fc.constantFrom(...'0123456789abcdef'), { minLength: length, maxLength: length }).map((all) => all.join(''));
const terms: fc.Arbitrary<AnswerTerms> = fc.record({
  verdict: fc.constantFrom('yes' as const, 'no' as const),
  sessionId: fc.string({ unit: 'grapheme' }),
  requestHash: hex(64),
  by: fc.string({ unit: 'grapheme' }),
  nonce: hex(32),
  givenAt: fc.nat(),
  expiresAt: fc.nat().map((time) => time + 1),
});
const token = 'hopgate-operator-1';

describe('a signed answer', () => {
  it('is valid for its request until it expires, also when read from its file', () => {
    fc.assert(
      fc.property(terms, (given) => {
        const read = parseAnswer(JSON.parse(JSON.stringify(signAnswer(given, token))));
        expect(read).not.toBeNull();
        const wanted = { sessionId: given.sessionId, hash: given.requestHash };
        expect(problemOfAnswer(read!, wanted, token, given.expiresAt - 1)).toBeNull();
        expect(problemOfAnswer(read!, wanted, token, given.expiresAt)).toBe('it has expired');
        expect(problemOfAnswer(read!, { ...wanted, sessionId: `${given.sessionId}x` }, token, 0)).toMatch(/session/);
        expect(problemOfAnswer(read!, wanted, `${token}x`, 0)).toMatch(/token/);
      }),
    );
  });

  it('is invalid after any change', () => {
    const changed = fc
      .tuple(terms, terms)
      .chain(([given, other]) =>
        fc.constantFrom(...(Object.keys(given) as (keyof AnswerTerms)[])).map((name) => ({ given, other, name })),
      );
    fc.assert(
      fc.property(changed, ({ given, other, name }) => {
        fc.pre(given[name] !== other[name]);
        const forged = { ...signAnswer(given, token), [name]: other[name] };
        expect(problemOfAnswer(forged, { sessionId: forged.sessionId, hash: forged.requestHash }, token, 0)).toMatch(
          /token/,
        );
      }),
    );
  });

  it('is invalid in any other form', () => {
    fc.assert(fc.property(fc.anything(), (value) => parseAnswer(value) === null));
  });
});
