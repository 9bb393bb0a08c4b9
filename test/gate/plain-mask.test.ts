import fc from 'fast-check';
import picomatch from 'picomatch';
import { describe, expect, it } from 'vitest';
import { maskMatcher } from '../../src/gate/masks.ts';
import { plainMask } from '../../src/gate/plain-mask.ts';
import { DEFAULT_PROJECT_CONFIG } from '../../src/spec/load-project-config.ts';

/** What a mask says by picomatch alone. */
const byGlob = (glob: string) => picomatch([glob, `${glob}/**`], { dot: true, nocase: true, nonegate: true });

// Few letters, so that they meet; the Kelvin sign and the long s are lowercase k and s to Unicode, not to a mask.
const letters = (...all: string[]) => fc.string({ unit: fc.constantFrom(...all), minLength: 1, maxLength: 4 });
const name = letters('a', 'K', 'k', '.', 's', '-', '~', 'é', '\u212a', '\u017f', ' ', '*', '[').filter(
  (text) => text !== '.' && text !== '..',
);
const pattern = letters('a', 'k', 'K', '.', 's', '-', '~', '*');
/** `ab!(c|*d)` */
const allBut = fc
  .tuple(
    letters('a', 'k', '.', '-'),
    fc.array(fc.tuple(fc.constantFrom('', '*'), letters('a', 'K', 'k', '.', 's')), { minLength: 1, maxLength: 3 }),
  )
  .map(([start, but]) => `${start}!(${but.map((each) => each.join('')).join('|')})`);
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'));
const glob = fc
  .tuple(fc.boolean(), fc.array(pattern, { minLength: 1, maxLength: 3 }))
  .map(([floats, parts]) => [...(floats ? ['**'] : []), ...parts].join('/'));

describe('a plain mask', () => {
  it('says of every path what the language of globs says', { timeout: 60_000 }, () => {
    let [plain, masked] = [0, 0];
    fc.assert(
      fc.property(glob, path, (mask, file) => {
        const matches = plainMask(mask);
        if (!matches) return;
        plain++;
        const says = byGlob(mask)(file);
        if (says) masked++;
        expect(matches(file.split('/'))).toBe(says);
      }),
      { numRuns: 3_000 },
    );
    expect(plain).toBeGreaterThan(700);
    expect(masked).toBeGreaterThan(5);
  });

  it('of a name that may not go on in some ways it says what they say, and hides folders as well', () => {
    fc.assert(
      fc.property(allBut, name, (mask, file) => {
        const [here, anywhere] = [plainMask(mask), plainMask(`**/${mask}`)];
        // Of an exception that is all dots picomatch has views of its own.
        fc.pre(here !== null && anywhere !== null);
        const says = picomatch(mask, { dot: true, nocase: true })(file);
        expect(here([file])).toBe(says);
        expect(anywhere(['a', file, 'b'])).toBe(says || anywhere(['a', 'b']));
      }),
      { numRuns: 3_000 },
    );
  });

  it.each(['*', '**', '.', '..', '**/**', 'a/**/b', '**/a/**/b', '?', '[ab]', '{a,b}', '!a', 'a**', '*a*', 'é', ''])(
    'is none where more is needed: %s',
    (mask) => expect(plainMask(mask)).toBe(null),
  );

  it('is what every mask is that nobody wrote', () => {
    for (const mask of DEFAULT_PROJECT_CONFIG.mask)
      expect(plainMask(mask.includes('/') ? mask : `**/${mask}`), mask).not.toBe(null);
  });

  it('stands beside masks that are none', () => {
    const masked = maskMatcher(['.env', '*.{key,p12}', '/build']);
    const all = ['.env', 'a/.ENV/b', 'x.key', 'a/y.P12', 'build', 'build/x', 'a/build', 'env', 'x.keys'];
    expect(all.map(masked)).toEqual([true, true, true, true, true, true, false, false, false]);
  });
});
