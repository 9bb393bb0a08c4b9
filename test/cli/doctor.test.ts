import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runJournalFile } from '../../src/agency/open-node.ts';
import { type DoctorEnvironment, examineMachine } from '../../src/cli/doctor/examine-machine.ts';
import { type Io, processIo } from '../../src/cli/io.ts';
import { runProgram } from '../../src/cli/run-program.ts';
import { stateDir } from '../../src/project/state-dir.ts';
import { trustCurrentConfig } from '../../src/project/trust.ts';
import type { ProbeResult } from '../../src/tools/sandbox/probe-result.ts';
import { isDeep } from '../depth.ts';
import { expectEachStopped } from '../tools/sandbox/escape-attempts.ts';
import { commitAll, folder, machine } from './run.ts';

const io = (env: Io['env']): Io => ({ ...processIo(), env });
const works: DoctorEnvironment = {
  run: runProgram,
  free: () => 1e9,
  sandbox: async () => ({ ok: true, version: '1.2.3', overlay: true, unixSockets: true, limits: { memory: 'none' } }),
};

async function finding(
  name: string,
  files: { readonly [path: string]: string },
  without: Partial<DoctorEnvironment> = {},
  env: Io['env'] = {},
) {
  const { root, env: world } = machine(files);
  const findings = await examineMachine(root, io({ ...world, ...env }), { ...works, ...without });
  return findings.find((it) => it.name === name);
}

describe('hopgate doctor', () => {
  it('lists the installed programs and tests the sandbox', async () => {
    const { root, run } = machine();
    const { code, out } = await run('doctor', '--json');
    const { ok, findings } = JSON.parse(out) as {
      ok: boolean;
      findings: { name: string; status: string; found: string }[];
    };
    expect({ code, ok }).toEqual({ code: 0, ok: true });
    const by = Object.fromEntries(findings.map(({ name, status, found }) => [name, `${status}: ${found}`]));
    expect(by['Node']).toContain(`ok: ${process.versions.node}`);
    expect(by['git']).toMatch(/^ok: \d+\.\d+.* \(\/.*git\)$/);
    expect(by['ripgrep']).toMatch(/^ok: \d+\.\d+/);
    expect(by['bubblewrap']).toMatch(/^ok: \d+\.\d+.*sandboxes commands \(tried\)/);
    expect(by['specs']).toMatch(/^ok: \d+ peripherals/);
    expect(by['hopgate.yaml']).toBe('missing: none');
    expect((await run('doctor')).out).toContain('Run "hopgate init".');
    expect(root).not.toBe('');
  });

  it('names a disk that is nearly full', async () => {
    expect(await finding('state folder', {}, { free: () => 100 << 10 })).toMatchObject({
      status: 'broken',
      found: expect.stringMatching(/hopgate\/[0-9a-f]{16}: its disk has only 100 KiB left$/),
      fix: expect.stringContaining('Free some space'),
    });
    expect(await finding('state folder', {})).toMatchObject({ status: 'ok' });
  });

  it('shows the version of Claude Code, or that it does not start', async () => {
    const env = { CLAUDE_BIN: '/opt/claude' };
    const claude = (output: string | null): Partial<DoctorEnvironment> => ({
      run: async (program, ...rest) => (program === env.CLAUDE_BIN ? output : runProgram(program, ...rest)),
    });
    expect(await finding('Claude Code', {}, claude('2.1.328 (Claude Code)\n'), env)).toMatchObject({
      status: 'ok',
      found: '2.1.328 (/opt/claude)',
      details: ['no hook of Claude Code was called in this repository yet'],
    });
    expect(await finding('Claude Code', {}, claude(null), env)).toMatchObject({
      status: 'missing',
      found: '/opt/claude does not start',
      fix: expect.stringContaining('"/opt/claude --version"'),
    });
  });

  it.runIf(isDeep)('names packages that were never installed', async () => {
    const manifest = { 'package.json': '{"devDependencies":{"vitest":"1"}}' };
    expect(await finding('packages', manifest)).toMatchObject({
      status: 'missing',
      found: 'node_modules is missing: the packages of package.json are not installed.',
    });
    expect(await finding('packages', { 'composer.json': '{"require-dev":{"a/b":"1"}}' })).toMatchObject({
      found: expect.stringContaining('vendor is missing'),
    });
    const complete: readonly { readonly [path: string]: string }[] = [
      { ...manifest, 'node_modules/x': '' },
      { ...manifest, '.pnp.cjs': '' },
      { 'package.json': '{"devDependencies":{}}' },
      { 'package.json': '[' },
      { 'composer.json': '{"require-dev":{"a/b":"1"},"config":{"vendor-dir":"lib"}}' },
    ];
    for (const files of complete) expect(await finding('packages', files)).toBeUndefined();
  });

  it.runIf(isDeep)('compares the commands’ programs inside and outside the sandbox', async () => {
    const tests = ['tool', 'git', 'not-there', './own.sh', 'gone', 'yarn'].map((name) => `{run: [${name}]}`).join(', ');
    const { root, env } = machine({
      'hopgate.yaml': `test: [${tests}]`,
      'own.sh': "#!/bin/sh\nprintf '\\033[1mown 1.0\\033[m\\n'\n",
      'package.json': '{ "packageManager": "yarn@4.9.1", "scripts": { "test": "true" } }',
    });
    const { root: tools } = machine({
      'sdk/bin/tool': '#!/bin/sh\ntest "$1" = version && cat "$(dirname "$0")/../lib/version"\n',
      'sdk/lib/version': 'tool 3.1',
      'sdk/bin/yarn': '#!/bin/sh\ncat package.json; echo\n',
      'shims/gone': '#!/bin/sh\nexec "$HERE/toolenv" exec "gone" "$@"\n',
      'shims/toolenv': '#!/bin/sh\necho toolenv: version 9 is not installed >&2; exit 1\n',
    });
    const shims = join(tools, 'shims');
    const gone = join(shims, 'gone');
    writeFileSync(gone, readFileSync(gone, 'utf8').replace('$HERE', shims));
    for (const file of [
      join(tools, 'sdk/bin/tool'),
      join(tools, 'sdk/bin/yarn'),
      gone,
      join(shims, 'toolenv'),
      join(root, 'own.sh'),
    ])
      chmodSync(file, 0o755);
    const world = { ...env, PATH: [join(tools, 'sdk/bin'), shims, env['PATH']].join(':') };
    await trustCurrentConfig(root, world);
    const findings = await examineMachine(root, io(world), works);
    const by = Object.fromEntries(findings.map((it) => [it.name, it]));
    expect(by['tool']).toMatchObject({
      status: 'ok',
      found: `tool 3.1 (${join(tools, 'sdk/bin/tool')}); same version in the sandbox`,
    });
    expect(by['yarn']).toMatchObject({
      status: 'ok',
      found: expect.stringContaining('{"packageManager":"yarn@4.9.1"} ('),
    });
    expect(by['./own.sh']).toMatchObject({ status: 'ok', found: expect.stringMatching(/^own 1\.0 \(/) });
    expect(by['not-there']).toMatchObject({ status: 'missing', found: 'your PATH does not have it' });
    expect(by['gone']).toMatchObject({
      status: 'missing',
      fix: expect.stringContaining('toolenv: version 9 is not installed'),
    });
  });

  it.runIf(isDeep)('names a package manager that does not start in the version of package.json', async () => {
    const { root, env } = machine({
      'hopgate.yaml': 'test: [{ run: [pnpm, test] }]',
      'package.json':
        '{ "packageManager": "pnpm@99.1.2+sha512.b2fc7683b8a6525414e7d13e1ba28caaddde96bf66ec540bfaeb7e" }',
    });
    const { root: tools } = machine({
      'bin/pnpm': '#!/bin/sh\ngrep -q packageManager package.json && exit 1\necho 10\n',
    });
    const pnpm = join(tools, 'bin/pnpm');
    const world = { ...env, PATH: [join(tools, 'bin'), env['PATH']].join(':') };
    await trustCurrentConfig(root, world);
    const found = async () => (await examineMachine(root, io(world), works)).find(({ name }) => name === 'pnpm');
    chmodSync(pnpm, 0o755);
    expect(await found()).toMatchObject({
      status: 'missing',
      found: expect.stringMatching(/pnpm does not start as pnpm@99\.1\.2\+\S*…, which package\.json asks for/),
    });
    writeFileSync(join(root, 'package.json'), '{}');
    expect(await found()).toMatchObject({ status: 'ok', found: expect.stringContaining('10 (') });
  });

  it.runIf(isDeep)(
    'runs each test command outside and in the sandbox with --tests, and names each difference',
    async () => {
      const tap = (tests: string) => `{ run: [sh, -c, '${tests}'], report: tap }`;
      const { root, env, run } = machine(
        {
          'hopgate.yaml': `test:
  - ${tap('echo 1..1; echo ok; touch outside-$PLACE')}
  - ${tap('test -z "$PLACE" && echo 1..1 || { echo 1..2; echo ok; }; echo ok')}
  - ${tap('echo 1..1; test -n "$PLACE" && echo ok')}
  - { run: [no-such-program] }
`,
        },
        { PLACE: 'here' },
      );
      await trustCurrentConfig(root, env);
      expect((await run('doctor', '--json')).out).not.toContain('outside-');
      const { code, out } = await run('doctor', '--tests', '--json');
      const { findings } = JSON.parse(out) as { findings: { name: string; status: string; found: string }[] };
      expect(code).toBe(1);
      expect(findings.slice(-4).map(({ status, found }) => `${status}: ${found}`)).toEqual([
        'ok: pass (1 test passed, 0 failed, 0 skipped); the same outside',
        'missing: pass (1 test passed, 0 failed, 0 skipped) in the sandbox, pass (2 tests passed, 0 failed, 0 skipped) outside',
        expect.stringMatching(/^missing: \w+.* in the sandbox, pass \(1 test passed, 0 failed, 0 skipped\) outside$/),
        expect.stringMatching(/^ok: error: exit status 127: .*; the same outside$/),
      ]);
      expect(existsSync(join(root, 'outside-here'))).toBe(true);
      expect(existsSync(join(root, 'outside-'))).toBe(false);
    },
  );

  it.runIf(isDeep)('names the modules in the home folder that the sandbox does not show', async () => {
    const home = folder({ 'go/pkg/mod/x': '', '.gradle/caches/x': '', '.m2/repository/x': '' });
    const config = 'test: [{ run: [go, test] }]\ncache: [{ read: ~/.m2 }]\n';
    const { root, env } = machine({
      'hopgate.yaml': config,
      'go.sum': 'x\n',
      'build.gradle': '',
      'pom.xml': '<project>\n',
    });
    const world = { ...env, HOME: home };
    await trustCurrentConfig(root, world);
    const findings = await examineMachine(root, io(world), works);
    expect(findings.filter(({ name }) => name === 'cache').map(({ found }) => found)).toEqual([
      'the sandbox does not show ~/go/pkg/mod',
      'the sandbox does not show ~/.gradle',
    ]);
  });

  it.runIf(isDeep)('tries to escape the sandbox with --probe, and every attempt is stopped', async () => {
    const { run } = machine();
    const { code, out } = await run('doctor', '--probe', '--json');
    expectEachStopped((JSON.parse(out) as { attempts: ProbeResult[] }).attempts);
    expect(code).toBe(0);
  });

  it('names what works without a sandbox and how to install one', async () => {
    const sandbox = async () => ({
      ok: false as const,
      reason: 'bubblewrap is not installed',
      remedy: 'install bubblewrap',
    });
    const found = await finding('bubblewrap', {}, { sandbox });
    expect(found).toMatchObject({
      status: 'missing',
      found: 'bubblewrap is not installed',
      fix: 'To have them: install bubblewrap.',
    });
    expect(found?.without).toContain('bash-test');
  });

  it('says that tests need a sandbox with overlays', async () => {
    const sandbox = async () => ({ ok: true as const, version: '1', overlay: false, unixSockets: false, limits: {} });
    expect((await finding('bubblewrap', {}, { sandbox }))?.without).toContain(
      'bash-background, bash, install, bash-test answer sandbox-unavailable',
    );
  });

  it('reports a missing git and ripgrep', async () => {
    expect(await finding('git', {}, {}, { PATH: folder() })).toMatchObject({
      status: 'missing',
      found: 'no git on the PATH',
    });
    expect(await finding('git', {}, { run: async () => null })).toMatchObject({
      status: 'missing',
      found: expect.stringContaining('does not run'),
    });
    expect(await finding('ripgrep', {}, { run: async () => null })).toMatchObject({
      status: 'missing',
      without: 'Everything but grep works.',
    });
  });

  it('names the settings that an untrusted configuration file cannot enable', async () => {
    const found = await finding('hopgate.yaml', { 'hopgate.yaml': 'test: [{run: [make]}]\n' });
    expect(found).toMatchObject({ status: 'missing', without: 'It can only restrict the specs; left out: test.' });
  });

  it('exits with 1 if no session could start', async () => {
    const { run } = machine({ 'hopgate.yaml': 'tests: []\n' });
    const { code, out } = await run('doctor');
    expect(code).toBe(1);
    expect(out).toMatch(/^broken {3}specs .*1 problem/m);
    expect(await finding('state folder', {}, {}, { XDG_STATE_HOME: '/dev/null' })).toMatchObject({ status: 'broken' });
  });
});

describe('the check of databases by doctor', () => {
  it.runIf(isDeep)('names a damaged file with a remedy', async () => {
    const here = machine({ 'a.js': 'a\n' });
    await here.feed('mode diagnose\n', 'shell');
    expect((await here.run('doctor')).out).toMatch(/^ok +evidence +\S+evidence\.db$/m);
    const file = join(stateDir(here.root, here.env), 'evidence.db');
    const bytes = readFileSync(file);
    bytes.fill(0xff, 4096);
    writeFileSync(file, bytes);
    const { code, out } = await here.run('doctor');
    expect(code).toBe(1);
    expect(out).toMatch(/^broken +evidence +damaged: /m);
    expect(out).toContain('Restore the file from a backup');
  });

  it.runIf(isDeep)('names a damaged journal of agency runs, without which sessions still start', async () => {
    const here = machine();
    const run = () => here.run('agency', 'run', 'x', 'talk');
    await run();
    expect((await here.run('doctor')).out).toMatch(/^ok +agency runs +\S+agency\.db$/m);
    writeFileSync(runJournalFile(here.env), 'no database');
    expect((await run()).err).toContain('hopgate doctor');
    const { code, out } = await here.run('doctor');
    expect(code).toBe(0);
    expect(out).toMatch(/^missing +agency runs +damaged: file is not a database$/m);
    expect(out).toContain('Move the file away.');
  });
});

it.runIf(isDeep)(
  'doctor names a configured remote that the repository does not have, and commits without a name',
  async () => {
    const files = { 'hopgate.yaml': 'git: { remote: origin, branch: main }\n' };
    const here = machine(files);
    commitAll(here.root);
    await here.run('trust', '--yes');
    expect((await machine(files, { PATH: folder() }).run('check')).out).not.toContain('git remote');
    expect((await here.run('doctor')).out).toMatch(/^missing +git remote +the repository has no remote "origin"$/m);
    execFileSync('git', ['-C', here.root, 'remote', 'add', 'origin', 'https://example.com/a.git']);
    const { out } = await here.run('doctor');
    expect(out).toMatch(/^ok +git remote +origin \(branch main\)$/m);
    expect(out).toMatch(/^missing +git author +git knows no name and address for commits$/m);
  },
);

it.runIf(isDeep)('doctor names a repository that git cannot use in the sandbox, and how to correct it', async () => {
  const here = machine();
  commitAll(here.root);
  expect((await here.run('doctor')).out).not.toContain('repository  ');
  const separate = join(folder(), 'separate.git');
  execFileSync('git', ['-C', here.root, 'init', '-q', '--separate-git-dir', separate]);
  const { out } = await here.run('doctor');
  expect(out).toMatch(/^broken +repository +git cannot use it here$/m);
  execFileSync('git', ['-C', here.root, 'config', 'core.worktree', here.root]);
  expect((await here.run('doctor')).out).not.toMatch(/^broken +repository/m);
  writeFileSync(join(separate, 'objects/info/alternates'), '/elsewhere/objects\n');
  expect((await here.run('doctor')).out).toMatch(/^broken +repository +borrows objects of \/elsewhere\/objects/m);
});
