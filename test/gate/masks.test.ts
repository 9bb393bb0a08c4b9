import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isGitInternal, isMasked, isProtected, maskMatcher } from '../../src/gate/masks.ts';
import { PROTECTED_NAMES } from '../../src/spec/policy/protected-names.ts';

describe('a mask', () => {
  it.each([
    ['.env', '.env a/.env .ENV .env/a', 'env a/.env.local .envrc'],
    ['.env.*', '.env.local a/.env.local', '.env env.local'],
    [
      '.env.!(*example|dist)',
      '.env.local a/.ENV.b .env.example.b .env.dists .env.b/example',
      '.env .env.dist a/.env.EXAMPLE .env.b.example',
    ],
    [
      '**/.aws/credentials',
      '.aws/credentials a/.aws/credentials a/.AWS/credentials/b',
      '.aws credentials a/credentials .aws/a/credentials',
    ],
    ['secrets/', 'secrets secrets/a b/secrets/c', 'secret mysecrets'],
    ['./config/keys', 'config/keys config/keys/a', 'a/config/keys config'],
    ['/config/keys', 'config/keys', 'a/config/keys'],
    ['**/*.pem', 'a.pem a/b.pem a/b.PEM .x/b.pem', 'a.pem.txt pem'],
    ['*.{key,p12}', 'c/d.key .p12 a.P12', 'key a.keys'],
    ['!a', '!a', 'a b'],
  ])('%s', (mask, hit, missed) => {
    for (const path of hit.split(' ')) expect([path, isMasked(path, [mask])]).toEqual([path, true]);
    for (const path of missed.split(' ')) expect([path, isMasked(path, [mask])]).toEqual([path, false]);
  });

  it('of a folder masks everything beneath it, at any depth', () => {
    const name = fc.stringMatching(/^[a-z.][a-z0-9._-]{0,6}$/).filter((text) => text !== '.' && text !== '..');
    const masked = maskMatcher(['secrets/']);
    fc.assert(
      fc.property(fc.array(name, { maxLength: 3 }), fc.array(name, { maxLength: 3 }), (above, below) =>
        masked([...above, 'secrets', ...below].join('/')),
      ),
    );
  });

  it('that says nothing masks nothing, and none masks nothing but git’s credentials', () => {
    for (const mask of ['', '/', './', './/']) expect(maskMatcher([mask])('a')).toBe(false);
    expect(maskMatcher([])('a')).toBe(false);
    expect(maskMatcher(['*'])('')).toBe(false);
  });

  it.each([
    '.git-credentials',
    'a/.GIT-credentials',
    '.git/config',
    'a/.git/config',
    '.git/modules/x/config',
    '.git/config.worktree',
    '.git/credentials',
    'GIT~1/config',
  ])('hides %s always', (path) => expect(isMasked(path, [])).toBe(true));
  it.each(['config', 'git/config', '.git/HEAD', 'config/.git', '.git-credentials/a', 'a.git/config'])(
    'does not hide %s',
    (path) => expect(isMasked(path, [])).toBe(false),
  );
});

describe('what no tool of an agent may write', () => {
  it('is this list', () =>
    expect(PROTECTED_NAMES.join(' ')).toBe(
      '.git .gitconfig .gitmodules .husky .hg .hgrc .hgsub .jj .sl .svn .bzr .claude .claude.json .codex .agents .mcp.json .cursor .cursorrules .windsurf .windsurfrules .gemini .opencode opencode.json opencode.jsonc .clinerules .cline .roo .roomodes .kilocode .kilocodemodes .continue .aider.conf.yml .aider.model.settings.yml .amazonq .augment .crush .crush.json crush.json .factory .goose .goosehints .junie .kiro .openhands .qwen .trae .copilot .vscode .idea .zed .fleet .devcontainer .devcontainer.json .exrc .nvimrc .nvim.lua .lvimrc .gdbinit .gdbearlyinit .lldbinit .rprofile .renviron .irbrc .pryrc .rdbgrc .byebugrc .ghci .iex.exs .ocamlinit .psqlrc .sqliterc .octaverc .perldb .bashrc .bash_profile .bash_login .bash_logout .profile .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .mkshrc .cshrc .tcshrc .xonshrc .inputrc .envrc .direnvrc .tmux.conf .screenrc .ripgreprc .curlrc .wgetrc .npmrc .yarnrc .yarnrc.yml .ssh .gnupg .pam_environment hopgate.yaml',
    ));

  it.each([...PROTECTED_NAMES])('%s, at any depth, and all beneath it', (name) => {
    for (const path of [name, `a/${name}`, `${name}/a`, name.toUpperCase(), `${name}.`, `${name}::$DATA`, `${name} `])
      expect([path, isProtected(path)]).toEqual([path, true]);
    for (const path of [`${name}x`, `x${name}`]) expect([path, isProtected(path)]).toEqual([path, false]);
  });

  it.each([
    'HEAD',
    'a/HEAD',
    'git~1/a',
    'GIT~2',
    '.g\u200bit/config',
    '．git/config',
    'node_modules/hopgate/dist/a.js',
    'a/node_modules/hopgate',
    'node_modules/.bin/hopgate',
    'NODE_MODULES/HOPGATE/a',
  ])('%s', (path) => expect(isProtected(path)).toBe(true));

  it.each([
    'src/a.ts',
    'head',
    'HEAD/a',
    'HEAD.md',
    'git',
    'git~',
    'git~x',
    'node_modules/hop',
    'node_modules/a/hopgate',
    'hopgate/a',
    'node_modules/.bin/hop',
    'bin/hopgate',
    'a/.bin/hopgate',
    '...',
    'naïve',
  ])('not %s', (path) => expect(isProtected(path)).toBe(false));
});

it('knows a .git wherever it stands, and by whatever name', () => {
  for (const path of ['.git', '.git/a', 'a/.git', 'a/.GIT/b', 'git~1/a', 'a/.git./b'])
    expect(isGitInternal(path)).toBe(true);
  for (const path of ['git', 'a/git/b', '.gitignore', '.gitx/a', 'a.git']) expect(isGitInternal(path)).toBe(false);
});
