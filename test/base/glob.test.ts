import fc from 'fast-check';
import picomatch from 'picomatch';
import { describe, expect, it } from 'vitest';
import { compileGlob, globProblem } from '../../src/base/glob.ts';

const matches = (pattern: string, path: string) => compileGlob(pattern)(path.split('/'));

const letters = (...all: string[]) => fc.string({ unit: fc.constantFrom(...all), minLength: 1, maxLength: 4 });
const isName = (text: string) => text !== '.' && text !== '..';
const name = letters('a', 'b', 'c', '.', '-').filter(isName);
const part = fc.oneof(
  letters('a', 'b', '.', '*', '?').filter((text) => isName(text) && !text.includes('**')),
  fc.constantFrom(
    '**',
    '*',
    'a*',
    '*.b',
    '[ab]',
    '[^a]*',
    '[a-c]b',
    'a[b-]',
    '{a,b}',
    'a{b,c*}',
    '{a,b{c,.}}',
    '{a,b}*',
  ),
);
const glob = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'));

describe('a glob', () => {
  it('matches what picomatch matches', () => {
    let matched = 0;
    fc.assert(
      fc.property(glob, path, (pattern, file) => {
        // The library lets "*/**" match no "a", though "a/**" does, and "*.*" no "a.".
        fc.pre(!/\*\/\*\*|\*\.\*/.test(pattern));
        const says = picomatch(pattern, { dot: true, nonegate: true })(file);
        if (says) matched++;
        expect([pattern, file, matches(pattern, file)]).toEqual([pattern, file, says]);
      }),
      { numRuns: 4_000 },
    );
    expect(matched).toBeGreaterThan(50);
  });

  it.each([
    ['.env.!(*example|dist)', '.env.local .env.example.b .env.dists', '.env.example .env.dist .env.an-example .env'],
    ['a{b}', 'a{b}', 'ab'],
    ['{a,b', '{a,b', 'a b'],
    ['[a', '[a', 'a'],
    ['a/**', 'a a/b a/b/c', 'b/a'],
    ['**/a/**/b', 'a/b x/a/y/z/b', 'b a a/c'],
    ['a**b', 'ab axxb', 'a/b'],
    ['(a)', '(a)', 'a'],
    ['[id].pem', '[id].pem i.pem', 'id.pem'],
    ['a/[x]*/{b,c}', 'a/x1/b a/[x]*/c a/[x]*/{b,c} a/x/{b,c}', 'a/[x]/b a/[x]*'],
    ['k{1..3}', 'k1 k2 k3 k{1..3}', 'k0 k4 k'],
    ['k{c..a}{08..10}', 'ka08 kb09 kc10', 'ka8 kd08'],
    ['a{1..b}', 'a{1..b}', 'a1'],
  ])('matches exactly the expected names: %s', (pattern, hit, missed) => {
    for (const file of hit.split(' ')) expect([file, matches(pattern, file)]).toEqual([file, true]);
    for (const file of missed.split(' ')) expect([file, matches(pattern, file)]).toEqual([file, false]);
  });

  it.each([
    ['+(a|b)', 'extended glob'],
    ['*(*(a))', 'extended glob'],
    ['a*!(b)', 'extended glob'],
    ['!(a)b', 'extended glob'],
    ['!({a,b})', 'extended glob'],
    ['(a|b).pem', 'extended glob'],
    ['[[:alpha:]]', 'a class'],
    ['{1..999999999}', '64 alternatives'],
    [`${'{a,b}'.repeat(7)}`, '64 alternatives'],
    [`${'{'.repeat(50)}${',a}'.repeat(50)}${'{a,b}'.repeat(40)}`, '64 alternatives'],
    [`{${'a,'.repeat(100)}}`, '64 alternatives'],
  ])('refuses %s', (pattern, why) => {
    expect(globProblem(pattern)).toContain(why);
    expect(() => compileGlob(pattern)).toThrow(why);
  });

  it.each([
    [`${'*a'.repeat(100)}b`, 'a'.repeat(255)],
    [`${'**/*a*a*a*a*a*a/'.repeat(12)}b`, `${`${'a'.repeat(60)}/`.repeat(60)}c`],
    [`${'*?'.repeat(60)}x`, 'a'.repeat(255)],
    [`.env.!(${'*a'.repeat(80)}b)`, `.env.${'a'.repeat(250)}`],
  ])('is matched quickly even if it was made to be slow: %s', (pattern, file) => {
    const start = process.cpuUsage();
    matches(pattern, file);
    expect(process.cpuUsage(start).user / 1000).toBeLessThan(1000);
  });
});
