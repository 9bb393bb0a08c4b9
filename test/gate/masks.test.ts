import fc from 'fast-check';
import picomatch from 'picomatch';
import { describe, expect, it } from 'vitest';
import { isMaskedPath } from '../../src/audit/rules/protected-paths.ts';
import { globProblem } from '../../src/base/glob.ts';
import { splitWords } from '../../src/base/text.ts';
import { compileMasks, isGitInternal, isMaskedByConfig, isWriteProtected } from '../../src/gate/scope/masks.ts';
import { DEFAULT_MASKS } from '../../src/spec/policy/default-masks.ts';
import { PROTECTED_FILE_NAMES } from '../../src/spec/policy/protected-names.ts';
import { depth } from '../depth.ts';

const HELD = [
  ...splitWords(`
    .env app/.env.local .env~ .env.bak .ENV .env.swp .envrc deploy/prod.env .dev.vars a/terraform.tfstate
    terraform.tfstate.backup prod.tfvars a.tfvars.json .kube/config kubeconfig
  `),
  ...[
    'k8s/kubeconfig.yaml',
    'dev.kubeconfig',
    'gcp-service-account.json',
    'serviceAccount.json',
    'service_account_key.json',
  ],
  ...[
    'my-app-firebase-adminsdk-x1.json',
    'client_secret_12.apps.json',
    'a.p12',
    'b.pfx',
    'c.jks',
    'd.keystore',
    'e.kdbx',
  ],
  ...[
    'id_rsa',
    'keys/id_ed25519',
    '.id_rsa.swp',
    'id_ed25519_sk',
    'ssh_host_rsa_key',
    'a/.ssh/config',
    'tls.key',
    'a/b/server.pem',
  ],
  ...[
    '.netrc',
    '.npmrc',
    'a/.pypirc',
    '.aws/credentials',
    '.docker/config.json',
    '.cargo/credentials.toml',
    'AuthKey.p8',
  ],
  ...splitWords('fixtures/.env test/server.key certs/server.key testdata/id_rsa'),
  ...'secrets.yml a/secrets.yaml secrets.toml credentials.json auth.json wp-config.php app.env .psql_history .token'.split(
    ' ',
  ),
  ...'pgpass.conf sftp-config.json .config/gh/hosts.yml gcp-key.json signing.properties .ansible_vault_pass'.split(' '),
  ...splitWords('.vault_pass.txt .htpasswd android/key.properties x.ovpn node_modules/.cache/dev/server.key'),
];
const OPEN = [
  ...[
    '.env.example',
    '.env.sample',
    'a/.env.template',
    '.env.local.example',
    '.env.dist',
    'example.tfvars',
    'dev.example.tfvars',
  ],
  ...splitWords(`
    venv/lib/python3.12/site-packages/certifi/cacert.pem node_modules/x/y/cacert.pem cacert.pem roots.pem
    node_modules/https-agent/test/server.key site-packages/x/tests/key.pem ruby/ssl_certs/x/GlobalSign.pem
    pkg/tls/testdata/server.key test/fixtures/a/b.p12 src/test/resources/store.jks tests/certs/ca.key id_rsa.pub
    pkg/kubeconfig/load.go src/environment.ts src/env.ts keys.ts src/secrets.ts a.tf service-account.yaml
    src/serviceAccount.ts .env-cmdrc docs/key.md settings.xml
  `),
  ...'config/secrets.yml chart/templates/secrets.yaml testdata/credentials.json locales/en/auth.json'.split(' '),
  ...'src/secrets.py docs/credentials.md tokens.json history.txt api_key.ts'.split(' '),
];

const LETTERS = ['a', 'b', 'c', '1', '.', '-', 'x', ' '];
const SYNTAX = ['*', '?', '**', '[ab]', '[^a]', '[a-c]', '{a,b}', '{b,a*}', '{1..3}', '/'];
const ODD = ['[', ']', '{', '}', ',', '"', '(', ')', '^', '+', '$', "'", '*', '?'];
const chosen = (...from: string[]) => fc.array(fc.constantFrom(...from), { minLength: 1, maxLength: 5 });
const isRelative = (path: string) => path.split('/').every((each) => !['', '.', '..'].includes(each));

describe('a mask', () => {
  it('masks at least what picomatch matches', () => {
    const mask = chosen(...SYNTAX, ...LETTERS).map((parts) => parts.join(''));
    const name = chosen(...LETTERS, ...ODD).map((parts) => parts.join(''));
    const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'));
    let matched = 0;
    fc.assert(
      fc.property(mask, fc.array(path, { minLength: 20, maxLength: 20 }), (pattern, paths) => {
        // The library lets "**" in a part of a name span folders, and reads a dot near a range as any character.
        fc.pre(isRelative(pattern) && !/\*\*[^/]|[^/]\*\*|\..*\{1|\{1.*\./.test(pattern));
        const masked = compileMasks([pattern, '*.unlike']);
        const glob = pattern.includes('/') ? pattern : `**/${pattern}`;
        const matches = picomatch([glob, `${glob}/**`], { dot: true, nocase: true, nonegate: true });
        const unmasked = paths.filter(isRelative).filter((each) => matches(each) && ++matched > 0 && !masked(each));
        expect([pattern, unmasked]).toEqual([pattern, []]);
      }),
      { numRuns: depth(500, 3000) },
    );
    expect(matched).toBeGreaterThan(depth(150, 1000));
  });

  it('masks a file or folder with exactly the mask’s name', () => {
    fc.assert(
      fc.property(chosen(...SYNTAX, ...ODD, ...LETTERS), (parts) => {
        const pattern = parts.join('');
        fc.pre(isRelative(pattern) && globProblem(pattern) === null);
        for (const path of [pattern, `${pattern}/a`, ...(pattern.includes('/') ? [] : [`b/${pattern}`])])
          expect([path, isMaskedByConfig(path, [pattern]), isMaskedPath(path, [pattern])]).toEqual([path, true, true]);
      }),
      { numRuns: depth(400, 2000) },
    );
  });

  it.each([
    [['odd/ "[x]*.pem'], 'odd/ "[x]*.pem odd/ "x1.pem'],
    [['*.pem', 'a?pem', 's*key', '*.key'], 'a-pem b/axpem ssh_key'],
  ])('of the pattern %j hides %s', (masks, hit) => {
    for (const path of hit.split(/ (?!")/)) expect([path, isMaskedByConfig(path, masks)]).toEqual([path, true]);
  });

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
  ])('with a pattern of the form %s hides exactly the paths that it names', (mask, hit, missed) => {
    for (const path of hit.split(' ')) expect([path, isMaskedByConfig(path, [mask])]).toEqual([path, true]);
    for (const path of missed.split(' ')) expect([path, isMaskedByConfig(path, [mask])]).toEqual([path, false]);
  });

  it.each([
    [
      '.env',
      '.ENV .env. .env::$DATA .Env:a ．env .e\u200dnv .env~ .env.bak .env.swp #.env# .#.env .env.bak~ .env/a~',
      '.envx env',
    ],
    ['*.pem', 'a.pem~ .a.pem.swp a.PEM.orig #a.pem# a.pem::$DATA a.pem. .a.pem.un~', 'a.pem.txt a.pemx pem'],
    ['secrets/', 'SECRETS/a secrets./a secrets:x/a secrets~/a', 'secret/a'],
    ['ﬁ', 'fi FI', 'f'],
    ['a:b', 'a:b A:B', 'a a:c'],
  ])('with a pattern of the form %s hides its paths in any spelling', (mask, hit, missed) => {
    for (const path of hit.split(' ')) expect([path, isMaskedByConfig(path, [mask])]).toEqual([path, true]);
    for (const path of missed.split(' ')) expect([path, isMaskedByConfig(path, [mask])]).toEqual([path, false]);
  });

  it.each([
    [['*.pem', '!cacert.pem'], 'a.pem x/b.pem cacert.pem~', 'cacert.pem x/CACERT.pem'],
    [
      ['.env', '*.key', '!test/fixtures/**'],
      '.env test/.env test/fixtures:x/.env',
      'test/fixtures/.env test/fixtures/a/b.key',
    ],
    [['.env', '!fixtures/'], '.env', 'fixtures/.env a/fixtures/b/.env'],
    [['secrets/', '!secrets/public'], 'secrets secrets/public secrets/public/a', 'public'],
    [['secrets/', '!secrets', '*.key'], 'secrets/a.key', 'secrets secrets/a'],
    [['!a', 'a'], 'a a/b', 'b'],
  ])(
    'in the list %j is decided by the last matching pattern, and excepts nothing in a masked folder',
    (masks, hit, missed) => {
      for (const path of hit.split(' ')) expect([path, isMaskedByConfig(path, masks)]).toEqual([path, true]);
      for (const path of missed.split(' ')) expect([path, isMaskedByConfig(path, masks)]).toEqual([path, false]);
    },
  );

  it('hides secrets by default', () => {
    for (const path of HELD) expect([path, isMaskedByConfig(path, DEFAULT_MASKS)]).toEqual([path, true]);
  });

  it('shows public certificates and ordinary files with similar names by default', () => {
    for (const path of OPEN) expect([path, isMaskedByConfig(path, DEFAULT_MASKS)]).toEqual([path, false]);
  });

  it('of a folder masks everything in it, at any depth', () => {
    const name = fc.stringMatching(/^[a-z.][a-z0-9._-]{0,6}$/).filter((text) => text !== '.' && text !== '..');
    const masked = compileMasks(['secrets/']);
    fc.assert(
      fc.property(fc.array(name, { maxLength: 3 }), fc.array(name, { maxLength: 3 }), (above, below) =>
        masked([...above, 'secrets', ...below].join('/')),
      ),
    );
  });

  it('that is empty masks nothing, and without masks only git’s credentials are hidden', () => {
    for (const mask of ['', '/', './', './/']) expect(compileMasks([mask])('a')).toBe(false);
    expect(compileMasks([])('a')).toBe(false);
    expect(compileMasks(['*'])('')).toBe(false);
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
  ])('always hides %s', (path) => expect(isMaskedByConfig(path, [])).toBe(true));
  it.each(['config', 'git/config', '.git/HEAD', 'config/.git', '.git-credentials/a', 'a.git/config'])(
    'does not hide %s',
    (path) => expect(isMaskedByConfig(path, [])).toBe(false),
  );
});

describe('the list of files that no tool may write', () => {
  it('equals the list in this test', () =>
    expect(PROTECTED_FILE_NAMES.join(' ')).toBe(
      '.git .gitconfig .gitmodules .husky .hg .hgrc .hgsub .jj .sl .svn .bzr .claude .claude.json .codex .agents .mcp.json .cursor .cursorrules .windsurf .windsurfrules .gemini .opencode opencode.json opencode.jsonc .clinerules .cline .roo .roomodes .kilocode .kilocodemodes .continue .aider.conf.yml .aider.model.settings.yml .amazonq .augment .crush .crush.json crush.json .factory .goose .goosehints .junie .kiro .openhands .qwen .trae .copilot .vscode .idea .zed .fleet .devcontainer .devcontainer.json .exrc .nvimrc .nvim.lua .lvimrc .lazy.lua .helix .nova .vs .gdbinit .gdbearlyinit .lldbinit .rprofile .renviron .irbrc .pryrc .rdbgrc .byebugrc .ghci .iex.exs .ocamlinit .psqlrc .sqliterc .octaverc .perldb .pdbrc .psysh.php .bashrc .bash_profile .bash_login .bash_logout .profile .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .mkshrc .cshrc .tcshrc .xonshrc .inputrc .envrc .direnvrc .tmux.conf .screenrc .ripgreprc .curlrc .wgetrc .npmrc .yarnrc .yarnrc.yml .ssh .gnupg .pam_environment hopgate.yaml',
    ));

  it.each([...PROTECTED_FILE_NAMES])('protects %s, at any depth, and everything in it', (name) => {
    for (const path of [name, `a/${name}`, `${name}/a`, name.toUpperCase(), `${name}.`, `${name}::$DATA`, `${name} `])
      expect([path, isWriteProtected(path)]).toEqual([path, true]);
    for (const path of [`${name}x`, `x${name}`]) expect([path, isWriteProtected(path)]).toEqual([path, false]);
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
  ])('protects %s', (path) => expect(isWriteProtected(path)).toBe(true));

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
  ])('does not protect %s', (path) => expect(isWriteProtected(path)).toBe(false));
});

it('a .git folder is recognised at any place and in any spelling', () => {
  for (const path of ['.git', '.git/a', 'a/.git', 'a/.GIT/b', 'git~1/a', 'a/.git./b'])
    expect(isGitInternal(path)).toBe(true);
  for (const path of ['git', 'a/git/b', '.gitignore', '.gitx/a', 'a.git']) expect(isGitInternal(path)).toBe(false);
});
