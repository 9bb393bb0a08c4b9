import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isProtected, maskMatcher, PROTECTED_AT_ROOT, PROTECTED_NAMES } from '../../../src/tools/masks.ts';

describe('masks', () => {
  const masked = maskMatcher(['.env', 'secrets/', '/build', 'keys/private', '**/*.pem', '*.{key,p12}']);

  it.each([
    '.env',
    'a/b/.env',
    '.ENV',
    'secrets',
    'a/secrets/x/y.txt',
    'secrets/.hidden',
    'build/x',
    'keys/private/id',
    'a.pem',
    'x/a.pem',
    'c/d.key',
    '.p12',
  ])('they hide %s', (path) => expect(masked(path)).toBe(true));
  it.each([
    '',
    '.env.example',
    'src/.environment',
    'a/build',
    'a/keys/private',
    'keys/public',
    'pem',
    'a.pem.txt',
    'src/config',
    'src/credentials',
  ])('they leave %j', (path) => expect(masked(path)).toBe(false));
  it.each([
    '.git/config',
    'vendor/lib/.git/config',
    '.git/modules/lib/config',
    '.git/worktrees/x/config.worktree',
    '.GIT/Config',
    '.git/credentials',
    'a/.git-credentials',
  ])('they always hide %s, where git keeps credentials', (path) => expect(maskMatcher([])(path)).toBe(true));
  it.each(['.git/HEAD', '.git/hooks/pre-commit', '.git/logs/HEAD', '.gitignore', 'config/.gitkeep'])(
    'they leave %s readable',
    (path) => expect(maskMatcher([])(path)).toBe(false),
  );

  it('a masked folder hides everything beneath it, at any depth', () => {
    const name = fc.stringMatching(/^[a-z.][a-z0-9._-]{0,6}$/).filter((text) => text !== '.' && text !== '..');
    fc.assert(
      fc.property(fc.array(name, { maxLength: 3 }), fc.array(name, { maxLength: 3 }), (above, below) =>
        masked([...above, 'secrets', ...below].join('/')),
      ),
    );
  });
});

describe('what no agent writes', () => {
  it('it is this list', () => {
    expect([...PROTECTED_NAMES, ...PROTECTED_AT_ROOT].join(' ')).toBe(
      '.git .gitconfig .gitmodules .husky .claude .codex .mcp.json .cursor .cursorrules .windsurf .windsurfrules .gemini .opencode .clinerules .roo .continue .aider.conf.yml .vscode .idea .zed .devcontainer .exrc .nvimrc .nvim.lua .gdbinit .lldbinit .bashrc .bash_profile .bash_login .bash_logout .profile .zshrc .zshenv .zprofile .zlogin .zlogout .inputrc .envrc .ripgreprc .npmrc .yarnrc.yml hopgate.yaml',
    );
  });
  it.each(PROTECTED_NAMES)('it holds %s at any depth, with all beneath it', (name) => {
    expect(isProtected(name)).toBe(true);
    expect(isProtected(`src/deep/${name}`)).toBe(true);
    expect(isProtected(`src/${name}/x/y`)).toBe(true);
  });
  it.each([
    '.Git/hooks/x',
    'src/.gIt',
    '.git./config',
    '.git /config',
    'git~1/config',
    '.g\u200cit/config',
    '.git::$INDEX_ALLOCATION/config',
    '.VSCODE/tasks.json',
    'HopGate.yaml',
    'HEAD',
    'src/bare/HEAD',
  ])('it sees through the spelling %j', (path) => expect(isProtected(path)).toBe(true));
  it.each([
    'src/hopgate.yaml',
    '.gitignore',
    'src/git/config.ts',
    '.github/workflows/ci.yml',
    'docs/.profile.md',
    'git~x',
    'src/HEAD/x',
    'src/head',
  ])('it leaves %s', (path) => expect(isProtected(path)).toBe(false));
});
