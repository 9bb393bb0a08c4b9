import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { compileMasks } from '../../src/gate/scope/masks.ts';
import { SpecError } from '../../src/spec/check/spec-problem.ts';
import { loadProjectConfig } from '../../src/spec/load/load-project-config.ts';
import { DEFAULT_MASKS } from '../../src/spec/policy/default-masks.ts';
import {
  DEFAULT_PROJECT_CONFIG,
  parseProjectConfig,
  parseStatedConfig,
} from '../../src/spec/resolve/parse-project-config.ts';

const WHOLE = `specs: default
scopes: { edit: [src/, docs/, scripts/] }
test: [{ run: [npm, test], report: tap }, { run: [make, check] }, { run: [pytest], report: { junit: out/junit.xml } }]
deploy: { staging: ["./deploy.sh", staging] }
git: { remote: origin, branch: main }
web: { allow: [docs.example.com, "*.docs.example.com:8443"] }
mask: [.env, .npmrc, .netrc, "**/*.pem"]
toolchains: [/opt/node, ~/.cargo]
`;

describe('parseProjectConfig', () => {
  it('reads every key', () => {
    expect(parseProjectConfig(WHOLE)).toEqual({
      ok: true,
      config: {
        specs: 'default',
        scopes: { edit: ['src/', 'docs/', 'scripts/'] },
        test: [
          { run: ['npm', 'test'], report: 'tap' },
          { run: ['make', 'check'], report: 'none' },
          { run: ['pytest'], report: { junit: 'out/junit.xml' } },
        ],
        deploy: { staging: { run: ['./deploy.sh', 'staging'], network: false } },
        git: { remote: 'origin', branch: 'main' },
        web: { allow: ['docs.example.com', '*.docs.example.com:8443'] },
        mask: ['.env', '.npmrc', '.netrc', '**/*.pem'],
        toolchains: ['/opt/node', '~/.cargo'],
      },
    });
  });

  it('reads a config that a program can state', () => {
    const parsed = parseProjectConfig(`test: [{ run: [make], env: [A], minutes: 3 }]
install: { approval: false, commands: [{ run: [npm, ci], hosts: [a.b:80], ssh: { key: ~/.ssh/x } }] }
deploy: { a: [make, it], b: { run: [a], network: true, ssh: { key: ~/.ssh/x }, hosts: [a.b], env: [A] } }
git: { remote: origin, branch: main, url: git@a.b:c, credential: { agent: true }, author: A <a@b.c>, trailer: false }
mask: ["!a"]
cache: [x/y, { read: ~/z }]
upstream: { a: { command: [x] }, b: { url: "https://x.y/z" } }
enforce: false
`);
    expect(parsed.ok && parseStatedConfig(parsed.config)).toEqual(parsed);
  });

  it('reads masks that a program states as hopgate.yaml does, and ignores keys that are undefined', () => {
    const read = (config: unknown) => {
      const parsed = parseStatedConfig(config);
      return parsed.ok ? parsed.config : parsed.problems;
    };
    expect(read({ mask: ['default', 'a'], test: undefined })).toEqual({ mask: [...DEFAULT_MASKS, 'a'] });
    expect(read({ mask: ['!.env.example'] })).toEqual({ mask: [...DEFAULT_MASKS, '!.env.example'] });
    expect(read({ mask: ['a'], git: null })).toEqual({ mask: ['a'], git: null });
  });

  it.each([
    [{ commits: 5 }, 'commits', 'expected a mapping, got 5'],
    [{ commits: Number.NaN }, 'commits', 'expected a mapping, got null'],
    [{ commits: { author: 5 } }, 'commits.author', 'expected a string, got 5'],
    [{ git: { author: 'A <a@b.c>' } }, 'git.author', 'unknown key "author"'],
    [{ git: { remote: 'o', branch: 'm', credential: { env: 'X' } } }, 'git.credential.env', 'unknown key "env"'],
    [{ test: [{ run: ['x'], report: 'tap', env: ['A'] }] }, 'test.0.env', 'expected a mapping, got a list'],
    [{ test: [{ run: ['x'] }] }, 'test.0', '"report" is missing'],
    [{ deploy: { a: ['make', 'it'] } }, 'deploy.a', 'expected a mapping, got a list'],
    [{ install: ['npm', 'ci'] }, 'install.0', 'expected a mapping, got "npm"'],
    [{ install: { approval: false, commands: [] } }, 'install', 'expected a list, got a mapping'],
    [{ cache: ['target'] }, 'cache.0', 'expected a mapping, got "target"'],
    [{ mask: [5] }, 'mask.0', 'expected a name, got 5'],
    [{ mask: ['a', '/etc/**'] }, 'mask.1', expect.stringContaining('is not a pattern inside the root')],
    [{ mask: ['../x'] }, 'mask.0', expect.stringContaining('is not a pattern inside the root')],
    [{ mask: Array(9_999).fill('a') }, 'mask', expect.stringContaining('patterns')],
    [{ upstream: { a: { command: ['x'] } } }, 'upstream.a', '"contained" is missing'],
    [{ git: 5 }, 'git', 'expected a mapping or null, got 5'],
    [{ specs: 5 }, 'specs', 'expected a string, got 5'],
    [{ tset: [] }, 'tset', 'unknown key "tset"'],
  ])('refuses a config that a program states in another form: %j', (config, path, message) => {
    const parsed = parseStatedConfig(config);
    expect(parsed.ok ? [] : parsed.problems).toContainEqual(expect.objectContaining({ path, message }));
  });

  it('reads the author and the trailer of commits without a remote', () => {
    const author = 'Ann <a@example.com>';
    expect(parseProjectConfig(`git: { author: ${author}, trailer: false }`)).toMatchObject({
      ok: true,
      config: { git: null, commits: { author, trailer: false } },
    });
  });

  it('reads one approval setting for all installs, which a command may override', () => {
    const text = 'install: { approval: false, commands: [{ run: [npm, ci] }, { run: [uv, sync], approval: true }] }';
    const install = [
      { run: ['npm', 'ci'], approval: false },
      { run: ['uv', 'sync'], approval: true },
    ];
    expect(parseProjectConfig(text)).toMatchObject({ ok: true, config: { install } });
  });

  it('reads the settings of commands', () => {
    const text = `test: [{ run: [go, test], env: [DB_URL], minutes: 30 }, { run: [x], env: { A: "1", B: "\${C}" } }]
deploy: { ship: { run: [x], env: [TOKEN] } }
programs: [go, clang++]
cache: [~/.cache/go-build, target, { read: ~/go/pkg/mod }]
`;
    expect(parseProjectConfig(text)).toMatchObject({
      ok: true,
      config: {
        test: [
          { run: ['go', 'test'], report: 'none', env: { DB_URL: '${DB_URL}' }, minutes: 30 },
          { run: ['x'], report: 'none', env: { A: '1', B: '${C}' } },
        ],
        deploy: { ship: { run: ['x'], network: false, env: { TOKEN: '${TOKEN}' } } },
        programs: ['go', 'clang++'],
        cache: [
          { folder: '~/.cache/go-build', read: false },
          { folder: 'target', read: false },
          { folder: '~/go/pkg/mod', read: true },
        ],
      },
    });
  });

  it.each(['', '# nothing yet\n', '{}'])('returns the defaults for %j', (text) => {
    expect(parseProjectConfig(text)).toEqual({ ok: true, config: DEFAULT_PROJECT_CONFIG });
  });

  it.each([
    ['tset: []', 'tset', 'unknown key "tset"', 'did you mean "test"?'],
    ['test: [{ run: npm test }]', 'test.0.run', 'expected a list, got "npm test"', null],
    ['test: [{ run: [] }]', 'test.0.run', 'must not be empty', null],
    ['test: [{ run: [x], report: tpa }]', 'test.0.report', 'unknown value "tpa"', 'did you mean "tap"?'],
    ['specs: ../specs', 'specs', '"../specs" is not a path inside the root: it contains ..', null],
    ['scopes: { edit: [/etc] }', 'scopes.edit.0', expect.stringContaining('absolute'), null],
    ['web: { allow: ["https://example.com/"] }', 'web.allow.0', expect.stringContaining('is not a host'), null],
    ['mask: [/etc/passwd]', 'mask.0', expect.stringContaining('no leading /'), null],
    ['toolchains: [node]', 'toolchains.0', expect.stringContaining('is not an absolute folder'), null],
    ['programs: [/usr/bin/go]', 'programs.0', expect.stringContaining('is not the name of a program'), null],
    ['cache: [../x]', 'cache.0', expect.stringContaining('no ..'), null],
    ['cache: [.git/hooks]', 'cache.0', expect.stringContaining('nothing in .git'), null],
    ['cache: [{ read: /etc }]', 'cache.0.read', expect.stringContaining('is not a folder of the home folder'), null],
    ['test: [{ run: [x], minutes: 0 }]', 'test.0.minutes', expect.any(String), null],
    ['git: { remote: origin }', 'git', '"branch" is missing', expect.stringContaining('branch that may be pushed')],
    ['git: { remote: origin, branch: [] }', 'git.branch', expect.any(String), null],
    ['git: { remote: origin, branch: [main, "a gent/*"] }', 'git.branch.1', expect.any(String), null],
    ['git: { remote: origin, branch: "x(*)" }', 'git.branch', '"x(*)" is not the name of a branch', null],
    ['git: { remote: origin, branch: m, author: Ann }', 'git.author', '"Ann" is not Name <address>', null],
    ['git: { remote: origin, branch: m, author: "A <a@b>\\n" }', 'git.author', expect.any(String), null],
    ['git: { remote: origin, branch: m, trailer: by me }', 'git.trailer', expect.any(String), null],
    ['git: { remote: --upload-pack=x, branch: main }', 'git.remote', expect.stringContaining('is not a remote'), null],
    ['git: { remote: origin, branch: -f }', 'git.branch', '"-f" is not the name of a branch', null],
    ['git: { remote: origin, branch: "a:b" }', 'git.branch', '"a:b" is not the name of a branch', null],
    ['deploy: { Staging: [x] }', 'deploy.Staging', expect.stringContaining('is not a name'), null],
  ])('reports %j at %s', (text, path, message, suggestion) => {
    expect(parseProjectConfig(text)).toEqual({
      ok: false,
      problems: [{ file: 'hopgate.yaml', path, line: 1, message, suggestion }],
    });
  });

  it.each([
    ['url: "https://me:pw@example.com/x.git"', 'git.url', expect.stringContaining('is not an https:// or ssh address')],
    ['url: "http://example.com/x.git"', 'git.url', expect.stringContaining('is not an https:// or ssh address')],
    ['url: "ext::sh -c x"', 'git.url', expect.stringContaining('is not an https:// or ssh address')],
    ['url: "ssh://-oProxyCommand=x/y"', 'git.url', expect.stringContaining('is not an https:// or ssh address')],
    ['url: "git@-x:y"', 'git.url', expect.stringContaining('is not an https:// or ssh address')],
    ['credential: { env: TOKEN }', 'git.credential', 'is valid for one address only, and git.url is not set'],
    ['url: "https://h/x", credential: {}', 'git.credential', expect.stringContaining('needs exactly one of env,')],
    [
      'url: "https://h/x", credential: { env: T, file: /t }',
      'git.credential',
      expect.stringContaining('needs exactly one of env,'),
    ],
    ['url: "https://h/x", credential: { key: /k }', 'git.credential.key', 'is for ssh, and url is an https address'],
    ['url: "git@h:x", credential: { env: T }', 'git.credential.env', 'is for https, and url is an ssh address'],
    [
      'url: "git@h:x", credential: { agent: true, username: me }',
      'git.credential.username',
      'is only allowed with env or file',
    ],
    ['url: "https://h/x", credential: { helper: [gh] }', 'git.credential.helper.0', 'is not the path of a program'],
    ['url: "https://h/x", credential: { env: ghp_abc123 }', 'git.credential.env', 'looks like a secret itself'],
    ['url: "git@h:x", credential: { key: "/my key" }', 'git.credential.key', expect.stringContaining('no blanks')],
    ['url: "git@h:x", ca: /ca.pem', 'git.ca', 'is only allowed with an https:// url'],
  ])('reports git: { %s } at %s', (more, path, message) => {
    expect(parseProjectConfig(`git: { remote: origin, branch: main, ${more} }`)).toMatchObject({
      ok: false,
      problems: [{ path, message }],
    });
  });

  it.each([
    ['https://h/x.git', '{ env: T }', { kind: 'env', name: 'T', username: 'x-access-token' }],
    ['https://h:8443/x', '{ file: ~/t, username: me }', { kind: 'file', path: '~/t', username: 'me' }],
    ['https://[::1]/x', '{ helper: [/usr/bin/gh, auth] }', { kind: 'helper', command: ['/usr/bin/gh', 'auth'] }],
    ['git@h:x.git', '{ key: ~/.ssh/k }', { kind: 'key', path: '~/.ssh/k', knownHosts: '~/.ssh/known_hosts' }],
    ['ssh://h:2222/~/x', '{ agent: true, known-hosts: /k }', { kind: 'agent', knownHosts: '/k' }],
  ])('reads the credential of a push to %s: %s', (url, stated, credential) => {
    expect(
      parseProjectConfig(`git: { remote: origin, branch: main, url: "${url}", credential: ${stated} }`),
    ).toMatchObject({ ok: true, config: { git: { url, credential } } });
  });
});

describe('the masks of hopgate.yaml', () => {
  const masksOf = (text: string) => {
    const parsed = parseProjectConfig(text);
    return parsed.ok ? parsed.config.mask : parsed.problems.map(({ path, message }) => `${path} ${message}`);
  };

  it('replace the default list, extend it, or make exceptions to it', () => {
    expect(masksOf('mask: [a]')).toEqual(['a']);
    expect(masksOf('mask: []')).toEqual([]);
    expect(masksOf('mask: [default, secrets/, "!secrets/public"]')).toEqual([
      ...DEFAULT_MASKS,
      'secrets/',
      '!secrets/public',
    ]);
    expect(masksOf('mask: ["!test/fixtures/**"]')).toEqual([...DEFAULT_MASKS, '!test/fixtures/**']);
    const unusual = ['./src', 'src/', 'src//', '!/.npmrc', '~$*.docx', '...', '..a/.b', '{a,b}/*', '[.].x', '~'];
    expect(masksOf(`mask: ${JSON.stringify(unusual)}`)).toEqual(unusual);
    const anchored = masksOf('mask: [default, "!/.npmrc"]') as string[];
    expect(anchored.at(-1)).toBe('!/.npmrc');
    expect(['.npmrc', 'a/.npmrc'].map(compileMasks(anchored))).toEqual([false, true]);
  });

  it.each([
    [`["${'a'.repeat(257)}"]`, expect.stringContaining('is longer than 256 characters')],
    [`[${'a, '.repeat(501)}]`, 'mask has more than 500 patterns'],
    ['["*(*(*(a)))b"]', 'mask.0 contains an extended glob; the only supported one is name!(a|b) at the end of a name'],
    [`["${'{a,b}'.repeat(9)}"]`, 'mask.0 has more than 64 alternatives in {…}'],
  ])('are limited: case %#', (stated, problem) => expect(masksOf(`mask: ${stated}`)).toEqual([problem]));

  it.each([
    '!//etc',
    '/etc',
    '../x',
    '!../x',
    'a/../../b',
    'a/..',
    '..',
    '.',
    './',
    '**/./x',
    'a//b',
    '~/x',
    '{a,..}/b',
    '',
  ])('match paths of the project, so "%s" is refused', (mask) =>
    expect(masksOf(`mask: ["${mask}"]`)).toEqual([
      `mask.0 "${mask}" is not a pattern inside the root: no leading / or ~/, no backslash, no names . and .., no //, not empty`,
    ]),
  );
});

describe('loadProjectConfig', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'hopgate-config-'));
  });
  afterEach(() => rmSync(root, { recursive: true }));

  it.each([
    ['/dev/zero', 'is a device, not a file'],
    ['/dev/full', 'is a device, not a file'],
    ['/etc/passwd', 'leads out of'],
    ['.', 'is a folder, not a file'],
  ])('reports a hopgate.yaml that is a link to %s', async (target, problem) => {
    symlinkSync(target, join(root, 'hopgate.yaml'));
    const error = await loadProjectConfig(root).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(SpecError);
    expect((error as SpecError).message).toContain(join(root, 'hopgate.yaml'));
    expect((error as SpecError).message).toContain(problem);
  });

  it('reports a hopgate.yaml that is a named pipe, or huge', async () => {
    const file = join(root, 'hopgate.yaml');
    execFileSync('mkfifo', [file]);
    await expect(loadProjectConfig(root)).rejects.toThrow('is a named pipe');
    rmSync(file);
    writeFileSync(file, '');
    truncateSync(file, 2 ** 40);
    await expect(loadProjectConfig(root)).rejects.toThrow('is larger than 1048576 bytes');
  });

  it('returns the defaults without a file', async () => {
    expect(await loadProjectConfig(root)).toEqual({ config: DEFAULT_PROJECT_CONFIG, found: false, hash: null });
  });

  it('hashes the bytes of the file', async () => {
    writeFileSync(join(root, 'hopgate.yaml'), WHOLE);
    const { found, hash, config } = await loadProjectConfig(root);
    expect({ found, hash }).toEqual({ found: true, hash: createHash('sha256').update(WHOLE).digest('hex') });
    expect(config.git).toEqual({ remote: 'origin', branch: 'main' });
  });

  it('throws all problems of an invalid file', async () => {
    writeFileSync(join(root, 'hopgate.yaml'), 'tset: []\nmask: 3\n');
    const error = await loadProjectConfig(root).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(SpecError);
    expect((error as SpecError).issues.map(({ path, line }) => [path, line])).toEqual([
      ['tset', 1],
      ['mask', 2],
    ]);
  });
});
