import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { InstallCommand } from '../../../src/spec/types.ts';
import { isDeep } from '../../depth.ts';
import { ok, run, scratch } from '../shell/support.ts';
import { serveRegistry } from './registry.ts';

/** A repository of git with these files, in which git ignores some folders. */
function repository(files: { readonly [path: string]: string } = {}): string {
  const root = scratch({ '.gitignore': 'node_modules/\n.venv\n/cache/\n*.log\n.env\n', 'src/a.js': '', ...files });
  const git = (...words: string[]) => execFileSync('git', words, { cwd: root, stdio: 'ignore' });
  git('init', '-q');
  git('add', '-A');
  git('-c', 'user.name=t', '-c', 'user.email=t@example.com', 'commit', '-qm', 'first');
  return root;
}

const command = (run: readonly string[], more: Partial<InstallCommand> = {}): InstallCommand => ({
  run,
  scripts: false,
  approval: false,
  ...more,
});

const line = (text: string, more: Partial<InstallCommand> = {}) => command(['bash', '-c', text], more);

const install = (root: string, ...commands: InstallCommand[]) =>
  ok(root, 'install', {}, { config: { install: commands } });

const LEFT_PAD = {
  name: 'left',
  version: '1.2.3',
  files: { 'index.js': 'module.exports = 42;\n', 'bin.js': '#!/usr/bin/env node\n' },
};

const EVIL = { ...LEFT_PAD, scripts: { postinstall: 'echo ran > ran; echo out > ../../src/out.js' } };

test('npm ci installs what the lock file says, and node_modules is kept', async () => {
  const { place, url, project } = await serveRegistry([EVIL]);
  const root = repository(project);
  const npm = command(['npm', 'ci'], { hosts: [place], env: { npm_config_registry: url } });
  const { result, effects } = await install(root, npm);
  expect(result).toMatchObject({ exit: 0, kept: ['node_modules'], scripts: false });
  expect(result).not.toHaveProperty('warning');
  expect(readFileSync(join(root, 'node_modules/left/index.js'), 'utf8')).toBe(LEFT_PAD.files['index.js']);
  expect(existsSync(join(root, 'node_modules/left/ran'))).toBe(false);
  expect(effects).toEqual([{ path: place, op: 'connect' }]);
  // The second install replaces the existing folder and removes a file that does not belong there.
  writeFileSync(join(root, 'node_modules/stray.js'), '');
  expect((await install(root, npm)).result).toMatchObject({ exit: 0, kept: ['node_modules'] });
  expect(readdirSync(join(root, 'node_modules')).sort()).toEqual(['.package-lock.json', 'left']);
  expect(readdirSync(root).filter((name) => name.startsWith('.hopgate'))).toEqual([]);
});

test.runIf(isDeep)('a lock file that differs from the registry stops npm, and nothing is kept', async () => {
  const { place, url, project } = await serveRegistry([LEFT_PAD]);
  const lock = project['package-lock.json'].replace(/sha512-.{10}/, 'sha512-AAAAAAAAAA');
  const root = repository({ ...project, 'package-lock.json': lock });
  const env = { npm_config_registry: url, npm_config_fetch_retries: '0' };
  const { result } = await install(root, command(['npm', 'ci'], { hosts: [place], env }));
  expect(result.exit).not.toBe(0);
  expect(result.kept).toEqual([]);
  expect(existsSync(join(root, 'node_modules'))).toBe(false);
});

const SCRIPTS = [
  [false, []],
  [true, ['ran']],
] as const;
test.runIf(isDeep).each(SCRIPTS)(
  'an install runs scripts of packages only if hopgate.yaml allows them: %j',
  async (scripts, expected) => {
    const { place, url, project } = await serveRegistry([EVIL]);
    const root = repository(project);
    const { result } = await install(
      root,
      command(['npm', 'ci'], { hosts: [place], scripts, env: { npm_config_registry: url } }),
    );
    expect(result.exit).toBe(0);
    expect(readdirSync(join(root, 'node_modules/left')).filter((name) => name === 'ran')).toEqual(expected);
  },
);

test.runIf(isDeep)(
  'an install keeps links and modes of ignored paths, and other changes only within the scope',
  async () => {
    const root = repository({ 'go.sum': 'old\n', 'lib/a.js': '' });
    const text = `
    mkdir -p .venv/bin lib/node_modules/a/.git cache; ln -s /usr/bin/python3 .venv/bin/python; ln -s ../lib .venv/bin/up
    echo x > lib/node_modules/a/x; chmod 755 lib/node_modules/a/x; echo h > lib/node_modules/a/.git/config; mkfifo cache/pipe; echo c > cache/c
    echo new > go.sum; echo b > src/b.js; echo l > debug.log`;
    const { result, effects } = await install(root, line(text));
    expect([...result.kept].sort()).toEqual(['.venv', 'cache', 'debug.log', 'lib/node_modules']);
    expect(result.dropped.map(({ path }: { path: string }) => path)).toEqual(['go.sum']);
    expect(readdirSync(join(root, 'lib/node_modules/a'))).toEqual(['x']);
    expect(lstatSync(join(root, 'lib/node_modules/a/x')).mode & 0o777).toBe(0o755);
    expect(lstatSync(join(root, '.venv/bin/python')).isSymbolicLink()).toBe(true);
    expect(readdirSync(join(root, 'cache'))).toEqual(['c']);
    expect(readFileSync(join(root, 'go.sum'), 'utf8')).toBe('old\n');
    expect(effects).toMatchObject([{ path: 'src/b.js', op: 'create' }]);
  },
);

test.runIf(isDeep)('an install leaves tracked and masked files in ignored folders unchanged', async () => {
  const root = repository({ 'node_modules/forced.js': 'tracked\n' });
  execFileSync('git', ['add', '-f', 'node_modules/forced.js'], { cwd: root });
  writeFileSync(join(root, '.env'), 'SECRET=1\n');
  execFileSync('mkdir', ['cache'], { cwd: root });
  writeFileSync(join(root, 'cache/.env'), 'SECRET=2\n');
  const { result } = await install(
    root,
    line(
      'echo x > node_modules/x; echo x > node_modules/forced.js; echo x > cache/x; echo x > .env 2> /dev/null; true',
    ),
  );
  expect(result.kept).toEqual(['node_modules/x']);
  expect(result.dropped).toEqual([
    { path: 'cache', why: 'git ignores it, but it contains masked files' },
    { path: 'node_modules/forced.js', why: expect.stringContaining('outside the scope') },
  ]);
  expect(readFileSync(join(root, 'node_modules/forced.js'), 'utf8')).toBe('tracked\n');
  expect(readFileSync(join(root, '.env'), 'utf8')).toBe('SECRET=1\n');
  expect(readFileSync(join(root, 'cache/.env'), 'utf8')).toBe('SECRET=2\n');
});

test('a failed install leaves the tree unchanged', async () => {
  const root = repository();
  const { result } = await install(root, line('mkdir node_modules; echo b > src/b.js; exit 3'));
  expect(result).toMatchObject({ exit: 3, kept: [], changed: [] });
  expect(existsSync(join(root, 'node_modules'))).toBe(false);
  expect(existsSync(join(root, 'src/b.js'))).toBe(false);
});

test('the refusal of an install names the remedy if hopgate.yaml has no key "install"', async () => {
  const { outcome } = await run(repository(), 'install', {});
  expect(outcome).toMatchObject({
    status: 'refused',
    code: 'out-of-scope',
    message: expect.stringContaining('no network'),
    remedy: expect.stringContaining('install: in hopgate.yaml'),
  });
});

test.each(['npm install left-pad', 'npm ci --registry=http://x', 'npm ci; id'])(
  'an install runs only the configured command: not %j',
  async (given) => {
    const { outcome } = await run(
      repository(),
      'install',
      { command: given },
      { config: { install: [command(['npm', 'ci'])] } },
    );
    expect(outcome).toMatchObject({ status: 'refused', argument: 'command' });
  },
);

test.runIf(isDeep).each([
  ['npm ci', 'npm ci'],
  ['curl', 'curl -sS http://example.com/'],
  ['git', 'git ls-remote https://example.com/x.git'],
])('%s without a network fails immediately and names the remedy', async (_, text) => {
  const { project } = await serveRegistry([LEFT_PAD]);
  const elsewhere = project['package-lock.json'].replaceAll(/http:..127.0.0.1:\d+/g, 'http://registry.example.com');
  const root = repository({ ...project, 'package-lock.json': elsewhere });
  const { result } = await ok(root, 'bash', { command: text }, { seconds: 50 });
  expect(result.timedOut).toBe(false);
  expect(result.exit).not.toBe(0);
  expect(result.noNetwork).toContain('ask the operator to run it');
});

test.runIf(isDeep)('an install that fails for another reason gets no advice about the network', async () => {
  const { result } = await ok(repository(), 'bash', { command: 'exit 1' });
  expect(result).not.toHaveProperty('noNetwork');
});
