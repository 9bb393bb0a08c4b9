import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openProject } from '../../src/project/open-project.ts';
import { stateDir } from '../../src/project/state-dir.ts';
import { isDeep } from '../depth.ts';
import { commitAll, folder, machine, put, spawnCli } from './run.ts';

const PACKAGE = { 'package.json': '{"scripts":{"test":"node --test"}}', 'src/a.js': '' };
const WIDE = `
scopes: {edit: [src/, secrets/], nobody: [x/]}
test: [{run: [npm, test]}]
deploy: {staging: [./deploy.sh]}
git: {remote: origin, branch: main}
web: {allow: [example.com]}
mask: [notes.txt]
toolchains: [/opt/thing]
upstream: {bad: {command: [touch, started]}}
`;

describe('hopgate init', () => {
  it('writes what it found, and trusts the new file', async () => {
    const { root, run, env } = machine(PACKAGE);
    const { code, out } = await run('init');
    expect(code).toBe(0);
    expect(out).toContain(`Wrote ${root}/hopgate.yaml and trusted it.`);
    expect(out).not.toContain('Commit hopgate.yaml');
    const { config, trusted, narrowed } = await openProject(root, env);
    expect({ trusted, narrowed }).toEqual({ trusted: true, narrowed: false });
    expect(config.test).toEqual([{ run: ['node', '--test-reporter=tap', '--test', '{args}'], report: 'tap' }]);
    expect(config.scopes['edit']).toContain('src/');
  });

  const MAKEFILE = { Makefile: 'test:\n\ttest -z "$$PLACE" && touch ran-$$PLACE\n', 'src/a.c': '' };
  it.runIf(isDeep)('runs the tests outside and in the sandbox only after a yes, and names the difference', async () => {
    const { type } = machine(MAKEFILE, { PLACE: 'here' });
    expect((await type('\r', 'init')).out).not.toContain('pass in the sandbox');
    const asked = await type('y', 'init');
    expect(asked.code).toBe(1);
    expect(asked.out).toContain('make test: pass in the sandbox, fail outside.');
  });

  it.runIf(isDeep)('without a terminal runs the tests only with --run-tests', async () => {
    const { run } = machine(MAKEFILE, { PLACE: 'here' });
    expect((await run('init')).out).not.toContain('pass in the sandbox');
    expect((await run('init', '--run-tests', '--json')).out).toContain('pass in the sandbox, fail outside');
  });

  it.runIf(isDeep)('says that an agent may change tests, and excludes them if asked', async () => {
    const { root, run, env } = machine({ ...PACKAGE, 'test/a.test.js': '' });
    expect((await run('init', '--dry-run')).out).toContain('src/, test/');
    const { out } = await run('init');
    expect(out).toContain('an agent may change tests (test/); "hopgate init --no-tests" keeps them out');
    expect((await run('init', '--no-tests', '--force')).out).not.toContain('may change tests');
    expect((await openProject(root, env)).config.scopes['edit']).not.toContain('test/');
  });

  it.runIf(isDeep)('writes the whole file, or none if the disk takes no more', async () => {
    const { root, env } = machine(PACKAGE);
    const main = join(import.meta.dirname, '../../src/cli/main.ts');
    const words = ['-c', 'ulimit -f 0; exec "$@"', 'sh', process.execPath, main, 'init', '--no-run-tests'];
    const { status } = spawnSync('/bin/sh', words, { cwd: root, env: { ...process.env, ...env }, encoding: 'utf8' });
    expect({ status, files: readdirSync(root) }).toEqual({ status: 1, files: ['package.json', 'src'] });
  });

  it.runIf(isDeep)('finds the remote and the branch', async () => {
    const { root, run, env } = machine(PACKAGE);
    commitAll(root);
    const { execFileSync } = await import('node:child_process');
    execFileSync('git', ['-C', root, 'remote', 'add', 'origin', 'https://example.com/a.git']);
    expect((await run('init')).out).toContain('Commit hopgate.yaml');
    expect((await openProject(root, env)).config.git).toEqual({ remote: 'origin', branch: 'main' });
  });

  const PROGRAMS = [
    ['in folders', { 'src/a.js': '', 'package-lock.json': '{}' }, ['package-lock.json', 'package.json']],
    ['at the root', { 'a.js': '', 'sub/package.json': '{}' }, []],
  ] as const;
  it.runIf(isDeep).each(PROGRAMS)(
    'asks whether agents may change manifests and lock files of a program %s',
    async (_where, files, granted) => {
      const { root, run, type, env } = machine({ 'package.json': PACKAGE['package.json'], ...files });
      const scope = async () => (await openProject(root, env)).config.scopes['edit'] ?? [];
      const isManifest = (path: string) => /package/.test(path);
      expect((await run('init')).out).toMatch(/no agent may change package.*"hopgate init --manifests" allows it/);
      const closed = (await scope()).filter(isManifest);
      expect(closed.every((path) => path.startsWith('!'))).toBe(true);
      expect((await type('n', 'init', '--force', '--no-run-tests')).out).toMatch(
        /May agents change the dependencies and build files \(package/,
      );
      expect((await scope()).filter(isManifest)).toEqual(closed);
      await type('y', 'init', '--force', '--no-run-tests');
      expect((await scope()).filter(isManifest)).toEqual(granted);
      expect((await run('init', '--force', '--manifests')).out).not.toContain('--manifests');
      expect((await scope()).filter(isManifest)).toEqual(granted);
    },
  );

  it('writes nothing with --dry-run, and shows the difference', async () => {
    const { root, run } = machine({ ...PACKAGE, 'hopgate.yaml': 'specs: default\nmask: [x]\n' });
    const { code, out } = await run('init', '--dry-run');
    expect(code).toBe(0);
    expect(out).toContain('\n-mask: [x]\n');
    expect(out).toContain('\n specs: default\n');
    expect(out).toMatch(/^\+test:$/m);
    expect(readFileSync(join(root, 'hopgate.yaml'), 'utf8')).toBe('specs: default\nmask: [x]\n');
    expect((await run('trust')).code).toBe(1);
  });

  it.runIf(isDeep)('names programs that are only on the operator’s PATH', async () => {
    const { root: bin } = machine({ mytool: '#!/bin/sh\n' });
    chmodSync(join(bin, 'mytool'), 0o755);
    const PATH = `${bin}:${process.env['PATH']}`;
    const { root, run } = machine({ Makefile: 'test:\n\tcat x && mytool y\n' }, { PATH });
    expect((await run('init')).out).toContain('programs  mytool, which the sandbox shows to every command');
    expect(readFileSync(join(root, 'hopgate.yaml'), 'utf8')).toContain('\nprograms: [mytool]\n');
  });

  it.runIf(isDeep)('works at the root of the repository from any of its folders, and says so', async () => {
    const { root, run, env } = machine({ ...PACKAGE, 'deep/er/a.js': '' });
    commitAll(root);
    const { code, out } = await run('init', '--root', '.');
    expect([code, out]).toEqual([0, expect.not.stringContaining('hopgate works there')]);
    const below = await spawnCli(['init'], { cwd: join(root, 'deep/er'), env: { ...env } });
    expect(below.out).toContain(`The repository of this folder is ${root}; hopgate works there.`);
    expect(below.out).toContain(`${root}/hopgate.yaml is up to date`);
    expect(below.out).toContain('Commit hopgate.yaml');
    expect((await run('init', '--root', 'deep')).out).toContain(`Wrote ${root}/deep/hopgate.yaml`);
  });

  it('refuses a bare repository, whose files only git writes', async () => {
    const { root, run } = machine({});
    execFileSync('git', ['init', '-q', '--bare', root]);
    expect(await run('init')).toMatchObject({ code: 1, err: expect.stringContaining('is a bare repository') });
  });

  it.runIf(isDeep)('keeps an existing file unless forced', async () => {
    const { root, run } = machine({ ...PACKAGE, 'hopgate.yaml': 'mask: [x]\n' });
    const refused = await run('init');
    expect(refused.code).toBe(1);
    expect(refused.err).toContain('--force');
    expect(readFileSync(join(root, 'hopgate.yaml'), 'utf8')).toBe('mask: [x]\n');
    expect((await run('init', '--force')).code).toBe(0);
    expect(readFileSync(join(root, 'hopgate.yaml'), 'utf8')).toContain('node, --test-reporter=tap');
    expect((await run('init')).out).toContain('is up to date');
  });
});

describe('hopgate trust', () => {
  it('lets an untrusted file only narrow the limits', async () => {
    const { root, env } = machine({ 'hopgate.yaml': WIDE });
    const { config, trusted, narrowed, ignored, specs } = await openProject(root, env);
    expect({ trusted, narrowed }).toEqual({ trusted: false, narrowed: true });
    expect(specs.peripherals['edit']!.scope.rule.write).toContain('src/');
    expect(config).toMatchObject({
      scopes: { edit: ['src/'] },
      test: [],
      deploy: {},
      git: null,
      web: { allow: [] },
      toolchains: [],
    });
    expect(config.mask).toEqual(expect.arrayContaining(['.env', 'notes.txt']));
    expect(ignored).toEqual(['scopes.edit', 'test', 'deploy', 'git', 'web', 'toolchains', 'upstream']);
    expect(config.upstream).toBeUndefined();
  });

  it('never widens a scope by a parent folder or a common prefix', async () => {
    const { root, env } = machine({ 'hopgate.yaml': 'scopes: {edit: [., src-evil/, ./src/deep/, srcs]}\n' });
    const { config, specs } = await openProject(root, env);
    const own = specs.peripherals['edit']!.scope.rule.write;
    expect([...config.scopes['edit']!].sort()).toEqual(['./src/deep/', ...own].sort());
  });

  it('is valid until the file changes', async () => {
    const { root, run, env } = machine({ 'hopgate.yaml': WIDE });
    const accepted = await run('trust', '--yes', '--json');
    expect(JSON.parse(accepted.out)).toMatchObject({ trusted: true, changed: true });
    expect((await openProject(root, env)).config.test).toHaveLength(1);
    expect((await run('trust')).out).toContain('is trusted (sha256');
    writeFileSync(join(root, 'hopgate.yaml'), `${WIDE}# more\n`);
    expect((await openProject(root, env)).trusted).toBe(false);
    expect((await run('trust', '--yes')).code).toBe(0);
    expect((await run('trust', '--revoke')).out).toContain('not trusted any more');
    expect((await openProject(root, env)).trusted).toBe(false);
    expect((await run('trust', '--revoke')).out).toContain('was not trusted');
  });

  it.runIf(isDeep)(
    'applies to the same content in all work trees of the repository, but not in a folder that only claims to be one',
    async () => {
      const { root, run, env } = machine({ 'hopgate.yaml': WIDE, 'sub/hopgate.yaml': 'mask: [b]\n' });
      commitAll(root);
      await run('trust', '--yes');
      await run('trust', '--yes', '--root', join(root, 'sub'));
      const linked = join(folder(), 'linked');
      execFileSync('git', ['-C', root, 'worktree', 'add', '--quiet', linked], { stdio: 'pipe' });
      const trusted = async (at: string) => (await openProject(at, env)).trusted;
      expect(await trusted(linked)).toBe(true);
      expect(await trusted(join(linked, 'sub'))).toBe(true);
      expect((await run('trust', '--root', linked)).out).toContain(`in ${root})`);
      expect((await run('trust', '--revoke', '--root', linked)).out).toContain(`The same file is trusted in ${root};`);
      writeFileSync(join(linked, 'hopgate.yaml'), `${WIDE}# more\n`);
      expect(await trusted(linked)).toBe(false);
      // Copies that name the repository, which does not name them.
      const files = { 'hopgate.yaml': WIDE };
      const claims = [
        folder({ ...files, '.git': readFileSync(join(linked, '.git'), 'utf8') }),
        folder({ ...files, '.git': `gitdir: ${root}/.git\n` }),
        folder({ ...files, '.git/HEAD': 'ref: refs/heads/main\n', '.git/worktrees/x/gitdir': `${root}/.git\n` }),
        folder({ ...files, '.git/HEAD': '', '.git/commondir': `${root}/.git\n` }),
      ];
      for (const claim of claims) expect([claim, await trusted(claim)]).toEqual([claim, false]);
      await run('trust', '--revoke');
      expect(await trusted(root)).toBe(false);
    },
  );

  it('asks at a terminal, and accepts only yes', async () => {
    const { type, run } = machine({ 'hopgate.yaml': 'mask: [a]\n# \u202egnp.\u001b[2K\n' });
    const no = await type('\r', 'trust');
    expect(no.code).toBe(1);
    expect(no.out).toContain('│ mask: [a]');
    expect(no.out).toContain('│ # \\u{202e}gnp.\\u{1b}[2K');
    expect((await type('\u0003', 'trust')).code).toBe(1);
    expect((await run('trust')).code).toBe(1);
    expect((await type('y', 'trust')).code).toBe(0);
    expect((await run('trust')).out).toContain('is trusted (sha256');
  });

  it('explains the error of an invalid file', async () => {
    const { run } = machine({ 'hopgate.yaml': 'tests: []\n' });
    const { code, err } = await run('trust', '--yes');
    expect(code).toBe(1);
    expect(err).toContain('tests');
    const none = await machine().run('trust', '--yes');
    expect(none.err).toContain('hopgate init');
  });

  it('refuses a repository’s own specs if they differ from the trusted ones', async () => {
    const { root, run, env } = machine({ 'hopgate.yaml': 'specs: team\n' });
    const peripheral = (purpose: string) =>
      `id: look\npurpose: ${purpose}\ntools: [read]\nscope: full-codebase\nentry: [default]\nexit: []\n`;
    put(root, { 'team/peripherals/look.yaml': peripheral('Look.') });
    expect((await openProject(root, env)).ignored).toEqual(['specs']);
    expect((await run('trust', '--yes')).err).toBe('');
    expect(Object.keys((await openProject(root, env)).specs.peripherals)).toEqual(['look']);
    put(root, { 'team/peripherals/look.yaml': peripheral('Look closely.') });
    await expect(openProject(root, env)).rejects.toThrow('is not the one that was trusted');
    await run('trust', '--yes');
    expect((await openProject(root, env)).specs.peripherals['look']!.purpose).toBe('Look closely.');
  });
});

describe('the state folder', () => {
  it.runIf(isDeep)('is closed to other users, and its name comes from the real root', async () => {
    const { root, run, env } = machine(PACKAGE);
    await run('init');
    const dir = stateDir(root, env);
    expect(dir).toMatch(/\/hopgate\/[0-9a-f]{16}$/);
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    expect(statSync(join(dir, 'trust.json')).mode & 0o777).toBe(0o600);
    const { symlinkSync } = await import('node:fs');
    symlinkSync(root, join(dir, 'link'));
    expect(stateDir(join(dir, 'link'), env)).toBe(dir);
  });

  it.each(['/proc', '/dev/null'])('causes an error with a remedy if it cannot be made: in %s', async (place) => {
    const { root, run, env } = machine({ 'hopgate.yaml': 'mask: [a]\n' }, { XDG_STATE_HOME: place });
    const { code, err } = await run('trust', '--yes');
    expect(code).toBe(1);
    expect(err).toContain(`the state folder ${stateDir(root, env)} cannot be written`);
    expect(err).toContain('XDG_STATE_HOME');
    expect((await run('trust', '--revoke')).out).toContain('was not trusted');
  });

  it('is never inside the root', async () => {
    const { root } = machine();
    expect(() => stateDir(root, { XDG_STATE_HOME: join(root, 'state') })).toThrow('lies inside the root');
    expect(() => stateDir(root, { HOME: root })).toThrow('lies inside the root');
    expect(() => stateDir(root, { XDG_STATE_HOME: `${root}-beside` })).not.toThrow();
  });
});
