import { posix } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPathWithinAny, locatePath } from '../../src/gate/scope/locate-path.ts';

const ROOT = '/home/me/repository';
const at = (text: unknown) => {
  const located = locatePath(ROOT, text);
  return located.ok ? located.path : `! ${located.why}`;
};

describe('locatePath', () => {
  it.each<[unknown, string]>([
    ['src/a.ts', 'src/a.ts'],
    ['./src//a.ts', 'src/a.ts'],
    ['src/x/../a.ts', 'src/a.ts'],
    ['.', '.'],
    ['src/..', '.'],
    [`${ROOT}/src/a.ts`, 'src/a.ts'],
    [ROOT, '.'],
    ['..a/b', '..a/b'],
    ['.../b', '.../b'],
    ['src/ü', 'src/ü'],
    ['..', '! the path is outside the root'],
    ['src/../../x', '! the path is outside the root'],
    ['/etc/passwd', '! the path is outside the root'],
    [`${ROOT}-evil/a`, '! the path is outside the root'],
    [`${ROOT}/../repository-evil`, '! the path is outside the root'],
    ['', '! the path is empty'],
    ['a\u0000b', '! the path contains a control character'],
    ['a\nb', '! the path contains a control character'],
    ['a\u0085b', '! the path contains a control character'],
    ['\ud800', '! the path is not well-formed Unicode'],
    ['x'.repeat(4097), '! the path is longer than 4096 bytes'],
    ['ü'.repeat(2049), '! the path is longer than 4096 bytes'],
    ['file:///etc/passwd', '! the path is a URL'],
    ['FILE:/etc/passwd', '! the path is a URL'],
    ['https://example.com/a.sql', '! the path is a URL'],
    ['s3+http://bucket/a', '! the path is a URL'],
    ['./file:/a', 'file:/a'],
    ['a:b', 'a:b'],
    ['src/x://y', 'src/x:/y'],
    [['src'], '! a path must be a string'],
  ])('resolves %j', (text, place) => {
    expect(at(text)).toBe(place);
  });

  const piece = fc.constantFrom('..', '.', '', 'src', 'a', '..a', '/', ROOT, 'repository', 'repository-evil', '…', ' ');
  it('returns no path outside the root, whatever the text', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(piece).map((pieces) => pieces.join('/')),
          fc.string({ unit: 'grapheme' }),
        ),
        (text) => {
          const located = locatePath(ROOT, text);
          if (!located.ok) return;
          const real = posix.join(ROOT, located.path);
          expect(real === ROOT || real === `${ROOT}/` || real.startsWith(`${ROOT}/`)).toBe(true);
          expect(located.path.split('/')).not.toContain('..');
          expect(real.replace(/\/$/, '')).toBe(posix.resolve(ROOT, text));
          // A path to a place itself is empty.
          expect(at(located.path)).toBe(located.path);
        },
      ),
      { numRuns: 2000 },
    );
  });
});

describe('isPathWithinAny', () => {
  it.each<[string, string[], boolean]>([
    ['src/a.ts', ['src/'], true],
    ['src', ['src/'], true],
    ['src/a.ts', ['src'], true],
    ['src/a.ts', ['./src/'], true],
    ['src/a/b', ['docs/', 'src/a/'], true],
    ['anything', ['.'], true],
    ['src/a.ts', ['src/a.ts'], true],
    ['src-evil/a.ts', ['src/'], false],
    ['src-evil/a.ts', ['src'], false],
    ['src.ts', ['src'], false],
    ['a/src/b', ['src/'], false],
    ['Src/a.ts', ['src/'], false],
    ['src/a.ts.bak', ['src/a.ts'], false],
    ['.', ['src/'], false],
    ['src/a.ts', [], false],
  ])('compares %s with %j segment by segment', (path, folders, expected) => {
    expect(isPathWithinAny(folders, path)).toBe(expected);
  });

  it('gives the same result as comparing the segments', () => {
    const path = fc.array(fc.constantFrom('a', 'b', 'ab', 'a-b'), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(path, path, fc.constantFrom('', '/'), (inner, outer, slash) => {
        const expected = outer.every((segment, index) => inner[index] === segment);
        expect(isPathWithinAny([outer.join('/') + slash], inner.join('/'))).toBe(expected);
      }),
    );
  });
});
