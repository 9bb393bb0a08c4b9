import { describe, expect, it } from 'vitest';
import { writePathReason } from '../../src/gate/scope/write-paths.ts';
import { parseProjectConfig } from '../../src/spec/resolve/parse-project-config.ts';

describe('the check of write paths', () => {
  it.each<[string, string, string]>([
    ['*.go', 'main.go a.go/x', 'doc/main.go main.goo go'],
    ['**/*.go', 'main.go doc/main.go a/b/c.go', 'main.c'],
    ['packages/*/src/', 'packages/a/src/x.ts packages/b/src/deep/y', 'packages/a/x.ts packages/a/src src/x.ts'],
    ['packages/*', 'packages/a packages/a/b/c', 'packages x'],
    ['src/**/test?.{js,ts}', 'src/test1.js src/a/b/test2.ts', 'test1.js src/test.js src/test1.py'],
    ['app/[id]/', 'app/[id]/page.tsx app/i/page.tsx', 'app/x/page.tsx'],
    ['./src/', 'src src/a', 'Src/a srcs'],
    ['.|!dist/', 'a src/b', 'dist dist/a packages/x/dist/b DIST/a'],
    ['.|!/dist/', 'a packages/x/dist/b', 'dist/a'],
    ['!*.lock|.', 'a', 'yarn.lock sub/Cargo.lock YARN.LOCK'],
    ['src/|!src/generated/**', 'src/a', 'src/generated src/generated/a docs/a'],
    ['src/|!vendor|src/vendor/own/', 'src/a', 'src/vendor/own/a'],
  ])('with the patterns %s grants the listed paths and no others', (write, yes, no) => {
    const paths = write.split('|');
    const granted = (path: string) => writePathReason(path, paths) === null;
    expect(yes.split(' ').filter((path) => !granted(path))).toEqual([]);
    expect(no.split(' ').filter(granted)).toEqual([]);
  });

  it('names the exclusion that refuses a path', () => {
    expect(writePathReason('a/dist/x', ['.', '!dist/'])).toBe('is excluded from the writable paths (!dist/)');
    expect(writePathReason('x', ['src/'])).toBe('is outside the writable paths');
  });
});

it.each([
  ['["!dist/"]', 'only excludes; put "." first to write everywhere else'],
  ['[., "!!dist/"]', 'has more than one !'],
  ['[., "!."]', 'excludes everything'],
  ['["src/@(a|b)/"]', 'contains an extended glob'],
  ['["/abs/*"]', 'it is absolute'],
  ['["*/../x"]', 'it contains ..'],
  [`["${'{a,b}'.repeat(9)}"]`, 'has more than 64 alternatives'],
])('a hopgate.yaml with scopes: {edit: %s} is refused', (paths, problem) => {
  const parsed = parseProjectConfig(`scopes: {edit: ${paths}}`);
  expect(parsed.ok ? [] : parsed.problems.map(({ message }) => message).join()).toContain(problem);
});
