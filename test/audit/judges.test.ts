import { describe, expect, it } from 'vitest';
import { readsCelVariable } from '../../src/audit/rules/audited-cel.ts';
import { isHostAllowed, urlRefusalReason } from '../../src/audit/rules/audited-hosts.ts';
import { isWithinPaths, resolvePathInRoot } from '../../src/audit/rules/audited-path.ts';
import { commandRefusalReason, matchTestCommand } from '../../src/audit/rules/commands/audited-command.ts';
import { splitSimpleCommand } from '../../src/audit/rules/commands/audited-words.ts';
import { isMaskedPath, isProtectedPath } from '../../src/audit/rules/protected-paths.ts';
import { DEFAULT_PROJECT_CONFIG } from '../../src/spec/resolve/parse-project-config.ts';
import type { Json, ProjectConfig, ScopeRule } from '../../src/spec/types.ts';
import { CONFIG, SPECS } from './audited-session.ts';

describe('a path in the audit', () => {
  it.each([
    ['src/a.ts', 'src/a.ts'],
    ['./src//x/../a.ts', 'src/a.ts'],
    ['/repo/src/a.ts', 'src/a.ts'],
    ['.', ''],
    ['../repo/src', 'src'],
  ])('resolves from %s to %j', (path, place) =>
    expect(resolvePathInRoot('/repo', path)).toEqual({ inside: true, path: place }),
  );

  it.each([['..'], ['../x'], ['/repository/a'], ['src/../../x'], ['/etc/passwd'], [''], ['a\0b'], [3]])(
    'is outside the root: %j',
    (path) => expect(resolvePathInRoot('/repo', path).inside).toBe(false),
  );

  it('is compared with a folder segment by segment', () => {
    expect(isWithinPaths('src/a.ts', ['src/'])).toBe(true);
    expect(isWithinPaths('src-evil/a.ts', ['src'])).toBe(false);
    expect(isWithinPaths('src', ['src/a.ts'])).toBe(false);
    expect(isWithinPaths('anything', ['.'])).toBe(true);
    expect(isWithinPaths('anything', [])).toBe(false);
  });
});

describe('the audit’s lists of protected and masked paths', () => {
  it.each([
    ['.git/config'],
    ['a/.GIT/hooks/x'],
    ['.claude/settings.json'],
    ['x/git~1/hooks'],
    ['.git. /x'],
    ['hopgate.yaml'],
    ['packages/a/hopgate.yaml'],
    ['node_modules/hopgate/dist/cli.js'],
    ['app/node_modules/.bin/hopgate'],
  ])('protect %s', (path) => expect(isProtectedPath(path)).toBe(true));
  it.each([['src/git.ts'], ['node_modules/hopgate-like/a.js'], ['.gitignore']])('do not protect %s', (path) =>
    expect(isProtectedPath(path)).toBe(false),
  );

  it.each([
    ['.env', ['.env']],
    ['deploy/.env', ['.env']],
    ['keys/a.PEM', ['**/*.pem']],
    ['secrets/deep/x', ['secrets/']],
    ['a/.git/config', []],
    ['.git-credentials', []],
  ])('hide %s by %j', (path, masks) => expect(isMaskedPath(path, masks)).toBe(true));
  it.each([
    ['env', ['.env']],
    ['src/secrets.ts', ['secrets/']],
    ['src/config', []],
  ])('do not hide %s by %j', (path, masks) => expect(isMaskedPath(path, masks)).toBe(false));
});

describe('an address in the audit', () => {
  const allowed = ['docs.example.com', '*.example.org', 'local.example.com:8443'];
  it.each([
    ['https://docs.example.com/a'],
    ['https://DOCS.example.com./a'],
    ['https://a.b.example.org'],
    ['https://local.example.com:8443/'],
  ])('is allowed: %s', (url) => expect(urlRefusalReason(url, allowed)).toBeNull());
  it.each([
    ['https://example.com'],
    ['https://example.org'],
    ['https://docs.example.com.evil.net'],
    ['https://docs.example.com:8443'],
    ['https://user@docs.example.com'],
    ['file:///etc/passwd'],
    ['https:docs.example.com'],
    ['https:/docs.example.com/'],
    ['https:///docs.example.com/'],
    ['https://evildocs.example.com'],
    ['nonsense'],
  ])('is refused: %s', (url) => expect(urlRefusalReason(url, allowed)).not.toBeNull());
});

/** The audit's reason to refuse a call of a built-in tool. */
const reason = (
  command: ScopeRule['command'],
  tool: string,
  args: { readonly [name: string]: Json },
  config: ProjectConfig,
): string | null =>
  commandRefusalReason({
    tool: SPECS.tools[tool]!,
    args,
    scope: { read: 'root', write: [], command, url: 'none' },
    config,
    root: '/repo',
    unsafeNoSandbox: false,
    message: null,
  })?.why ?? null;

describe('a command in the audit', () => {
  it('is split at unquoted blanks', () => {
    expect(splitSimpleCommand(`commit -m 'fix: a b' "c d" e\\ f`)).toEqual(['commit', '-m', 'fix: a b', 'c d', 'e f']);
    for (const text of ['a; b', 'a && b', '$(x)', 'a > b', "it's"]) expect(splitSimpleCommand(text)).toBeNull();
  });

  it('of deploy work needs a deploy scope, and a test run without a command needs a scope that grants commands', () => {
    const config = { ...DEFAULT_PROJECT_CONFIG, deploy: { out: { run: ['true'], network: false } } };
    const args = { name: 'out' };
    expect(reason('deploy', 'bash-deploy', args, config)).toBeNull();
    for (const scope of ['read-only', 'contained', 'test'] as const)
      expect(reason(scope, 'bash-deploy', args, config)).toBe(
        'the tool runs only where the scope ships (git-push-only)',
      );
    expect(reason('none', 'bash-test', {}, config)).toBe('the scope grants no commands');
  });

  it('is a configured test command only word for word, or where arguments are allowed', () => {
    const tests = [{ run: ['npm', 'test', '--', '{args}'], report: 'tap' as const }];
    expect(matchTestCommand(['npm', 'test'], tests)).toEqual({ narrowed: false });
    expect(matchTestCommand(['npm', 'test', '--'], tests)).toEqual({ narrowed: false });
    expect(matchTestCommand(['npm', 'test', '--', 'a.test.ts'], tests)).toEqual({ narrowed: true });
    expect(matchTestCommand(['npm', 'run', 'test'], tests)).toBeNull();
    expect(matchTestCommand(['npm', 'test', 'x'], tests)).toBeNull();
  });

  it.each([
    [{ sub: 'status' }],
    [{ sub: 'git commit -m "x y"' }],
    [{ sub: 'push', args: ['origin', 'main'] }],
    [{ sub: 'push' }],
  ])('counts as deploy work: git %j', (args) => expect(reason('deploy', 'bash-git', args, CONFIG)).toBeNull());
  it.each([
    [{ sub: 'push', args: ['--force'] }],
    [{ sub: 'push', args: ['origin', '+main'] }],
    [{ sub: 'push', args: ['origin', 'other'] }],
    [{ sub: 'config', args: ['x', 'y'] }],
    [{ sub: 'status; rm -rf .' }],
    [{}],
  ])('does not count as deploy work: git %j', (args) =>
    expect(reason('deploy', 'bash-git', args, CONFIG)).toEqual(expect.any(String)),
  );
});

it('a connected host is allowed by a rule with a port or in brackets', () => {
  expect(isHostAllowed('docs.example.com', ['*.example.com:8443'])).toBe(true);
  expect(isHostAllowed('::1', ['[::1]:8080'])).toBe(true);
  expect(isHostAllowed('::2', ['[::1]:8080'])).toBe(false);
});

it.each([
  ['tests.count > 3', true],
  ['has(tests.passed)', true],
  ['fruit.latests == 1', false],
  ['fruit.tests == "tests"', false],
])('verify knows if a rule reads the last test run: %s', (rule, reads) =>
  expect(readsCelVariable(rule, 'tests')).toBe(reads),
);
