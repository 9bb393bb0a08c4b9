import { describe, expect, it } from 'vitest';
import { auditedWords, commandProblem, configuredTest } from '../../src/audit/rules/commands.ts';
import { hostProblem } from '../../src/audit/rules/hosts.ts';
import { liesIn, placeOf } from '../../src/audit/rules/paths.ts';
import { isMaskedPath, isProtectedPath } from '../../src/audit/rules/protected-paths.ts';
import { DEFAULT_PROJECT_CONFIG } from '../../src/spec/resolve/parse-project-config.ts';
import { CONFIG } from './world.ts';

describe('a place', () => {
  it.each([
    ['src/a.ts', 'src/a.ts'],
    ['./src//x/../a.ts', 'src/a.ts'],
    ['/repo/src/a.ts', 'src/a.ts'],
    ['.', ''],
    ['../repo/src', 'src'],
  ])('%s leads to %j', (path, place) => expect(placeOf('/repo', path)).toEqual({ inside: true, path: place }));

  it.each([['..'], ['../x'], ['/repository/a'], ['src/../../x'], ['/etc/passwd'], [''], ['a\0b'], [3]])(
    '%j leads nowhere beneath the root',
    (path) => expect(placeOf('/repo', path).inside).toBe(false),
  );

  it('lies in a folder name by name', () => {
    expect(liesIn('src/a.ts', ['src/'])).toBe(true);
    expect(liesIn('src-evil/a.ts', ['src'])).toBe(false);
    expect(liesIn('src', ['src/a.ts'])).toBe(false);
    expect(liesIn('anything', ['.'])).toBe(true);
    expect(liesIn('anything', [])).toBe(false);
  });
});

describe('what nobody touches', () => {
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
  ])('%s steers', (path) => expect(isProtectedPath(path)).toBe(true));
  it.each([['src/git.ts'], ['node_modules/hopgate-like/a.js'], ['.gitignore']])('%s does not', (path) =>
    expect(isProtectedPath(path)).toBe(false),
  );

  it.each([
    ['.env', ['.env']],
    ['deploy/.env', ['.env']],
    ['keys/a.PEM', ['**/*.pem']],
    ['secrets/deep/x', ['secrets/']],
    ['a/.git/config', []],
    ['.git-credentials', []],
  ])('%s is hidden by %j', (path, masks) => expect(isMaskedPath(path, masks)).toBe(true));
  it.each([
    ['env', ['.env']],
    ['src/secrets.ts', ['secrets/']],
    ['src/config', []],
  ])('%s is not by %j', (path, masks) => expect(isMaskedPath(path, masks)).toBe(false));
});

describe('an address', () => {
  const allowed = ['docs.example.com', '*.example.org', 'local.example.com:8443'];
  it.each([
    ['https://docs.example.com/a'],
    ['https://DOCS.example.com./a'],
    ['https://a.b.example.org'],
    ['https://local.example.com:8443/'],
  ])('%s is allowed', (url) => expect(hostProblem(url, allowed)).toBeNull());
  it.each([
    ['https://example.com'],
    ['https://example.org'],
    ['https://docs.example.com.evil.net'],
    ['https://docs.example.com:8443'],
    ['https://user@docs.example.com'],
    ['file:///etc/passwd'],
    ['https://evildocs.example.com'],
    ['nonsense'],
  ])('%s is not', (url) => expect(hostProblem(url, allowed)).not.toBeNull());
});

describe('a command', () => {
  it('is split at blanks outside of quotes', () => {
    expect(auditedWords(`commit -m 'fix: a b' "c d" e\\ f`)).toEqual(['commit', '-m', 'fix: a b', 'c d', 'e f']);
    for (const text of ['a; b', 'a && b', '$(x)', 'a > b', "it's"]) expect(auditedWords(text)).toBeNull();
  });

  it('ships only where the scope ships, and what runs unnamed needs a scope that runs commands', () => {
    const config = { ...DEFAULT_PROJECT_CONFIG, deploy: { out: { run: ['true'], network: false } } };
    const args = { name: 'out' };
    expect(commandProblem('deploy', 'bash-deploy', args, config)).toBeNull();
    for (const scope of ['read-only', 'contained', 'test'] as const)
      expect(commandProblem(scope, 'bash-deploy', args, config)).toBe('deploy commands run only where the scope ships');
    expect(commandProblem('none', 'bash-test', {}, config)).toBe('this scope runs no commands');
  });

  it('is a configured test command only word for word, or where words may be added', () => {
    const tests = [{ run: ['npm', 'test', '--', '{args}'], report: 'tap' as const }];
    expect(configuredTest(['npm', 'test'], tests)).toEqual({ narrowed: false });
    expect(configuredTest(['npm', 'test', '--'], tests)).toEqual({ narrowed: false });
    expect(configuredTest(['npm', 'test', '--', 'a.test.ts'], tests)).toEqual({ narrowed: true });
    expect(configuredTest(['npm', 'run', 'test'], tests)).toBeNull();
    expect(configuredTest(['npm', 'test', 'x'], tests)).toBeNull();
  });

  it.each([
    [{ sub: 'status' }],
    [{ sub: 'git commit -m "x y"' }],
    [{ sub: 'push', args: ['origin', 'main'] }],
    [{ sub: 'push' }],
  ])('git %j is deploy work', (args) => expect(commandProblem('deploy', 'bash-git', args, CONFIG)).toBeNull());
  it.each([
    [{ sub: 'push', args: ['--force'] }],
    [{ sub: 'push', args: ['origin', '+main'] }],
    [{ sub: 'push', args: ['origin', 'other'] }],
    [{ sub: 'config', args: ['x', 'y'] }],
    [{ sub: 'status; rm -rf .' }],
    [{}],
  ])('git %j is not', (args) => expect(commandProblem('deploy', 'bash-git', args, CONFIG)).toEqual(expect.any(String)));
});
