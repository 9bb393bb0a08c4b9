import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sandboxOfProcess } from '../../../src/tools/sandbox/detect-sandbox.ts';
import type { Sandbox } from '../../../src/tools/sandbox/sandbox.ts';
import { isDeep, sample } from '../../depth.ts';
import { git, put, repository, resultOf, runner, temporaryFolder } from './support.ts';

const sandbox = await sandboxOfProcess();
const shown = async (run: ReturnType<typeof runner>, sub: string) => resultOf(await run({ sub }));

/** Two branches that changed the same line, in the middle of being merged. */
function merging() {
  const repo = repository();
  const { root } = repo;
  git(root, 'checkout', '-qb', 'side');
  put(root, 'src/a.txt', 'side\n');
  put(root, 'theirs.txt', 'x\n');
  git(root, 'add', '.');
  git(root, 'commit', '-qm', 'side');
  git(root, 'checkout', '-q', 'main');
  put(root, 'src/a.txt', 'main\n');
  git(root, 'commit', '-qam', 'main');
  expect(() => git(root, 'merge', 'side')).toThrow();
  return { ...repo, run: runner(sandbox, root) };
}

describe('bash-git during a merge', () => {
  test.runIf(isDeep)('does not stage a file with conflict markers', async () => {
    const { root, run } = merging();
    for (const sub of sample(['add .', 'add src/a.txt', 'commit -am x'], 3))
      expect((await run({ sub })).outcome, sub).toMatchObject({
        status: 'failed',
        code: 'unresolved',
        message: expect.stringContaining('src/a.txt'),
      });
    expect(git(root, 'status', '--short')).toContain('UU src/a.txt');
  });

  test.runIf(isDeep)('commits a merge without conflicts, and names the merged commits', async () => {
    const { root, run } = merging();
    put(root, 'src/a.txt', 'both\n');
    expect(await shown(run, 'commit -am merged')).toMatchObject({
      committed: true,
      paths: ['src/a.txt', 'theirs.txt'],
    });
    expect(git(root, 'log', '-1', '--format=%P').split(' ')).toHaveLength(2);
  });
});

test.runIf(isDeep)('bash-git can unstage before the first commit', async () => {
  const root = temporaryFolder();
  git(root, 'init', '-q', '-b', 'main');
  put(root, 'a', 'a\n');
  put(root, 'd/b', 'b\n');
  git(root, 'add', '.');
  put(root, 'a', 'changed since\n');
  const run = runner(sandbox, root);
  expect(resultOf(await run({ sub: 'restore', args: ['--staged', 'a'] }))).toMatchObject({ exit: 0 });
  expect(git(root, 'status', '--short')).toBe('A  d/b\n?? a');
  expect(resultOf(await run({ sub: 'restore', args: ['--staged', '.'] }))).toMatchObject({ exit: 0 });
  expect(git(root, 'diff', '--cached', '--name-only')).toBe('');
  expect(readFileSync(join(root, 'a'), 'utf8')).toBe('changed since\n');
});

test.runIf(isDeep)('bash-git stages a file that replaces a folder, and a folder that replaces a file', async () => {
  const { root } = repository();
  rmSync(join(root, 'README.md'));
  put(root, 'README.md/x', 'x\n');
  rmSync(join(root, 'src'), { recursive: true });
  put(root, 'src', 'a file\n');
  const run = runner(sandbox, root);
  expect(await shown(run, 'add .')).toMatchObject({ exit: 0 });
  expect(git(root, 'ls-files').split('\n')).toEqual(['README.md/x', 'src']);
});

test.runIf(isDeep)('bash-git stages thousands of files in one call', async () => {
  const { root } = repository();
  for (let i = 0; i < 3000; i++) put(root, `many/${i}.txt`, 'the same\n');
  const staged = await shown(runner(sandbox, root), 'add .');
  expect(staged).toMatchObject({ exit: 0, timedOut: false });
  expect(staged['paths']).toHaveLength(3000);
});

test('bash-git does not stage a file whose name is not UTF-8, and stages the others', async () => {
  const { root } = repository();
  writeFileSync(Buffer.concat([Buffer.from(join(root, 'lat')), Buffer.from([0xef]), Buffer.from('n')]), 'x');
  put(root, 'really-\ufffd', 'x\n');
  expect(await shown(runner(sandbox, root), 'add .')).toMatchObject({
    exit: 0,
    paths: ['really-\ufffd'],
    skipped: ['lat\ufffdn'],
  });
});

test.runIf(isDeep)('bash-git accepts a message of any length', async () => {
  const { root } = repository();
  put(root, 'src/a.txt', 'two\n');
  const long = 'x'.repeat(500_000);
  const run = runner(sandbox, root);
  const made = resultOf(await run({ sub: 'commit', args: ['-a', '-m', '# a title', '-m', long] }));
  expect(made).toMatchObject({ committed: true });
  expect(git(root, 'log', '-1', '--format=%B')).toBe(`# a title\n\n${long}`);
  const paths = Array.from({ length: 40_000 }, (_, i) => `a/rather/long/way/to/a/file/that/is/not/there/${i}`);
  expect((await run({ sub: 'log', args: ['--', ...paths] })).outcome).toMatchObject({
    status: 'refused',
    code: 'invalid-action',
    message: 'The command line is too long for this machine.',
  });
});

test.runIf(isDeep)('a killed bash-git leaves no lock file behind; another program’s lock file stays', async () => {
  const { root } = repository();
  const lock = join(root, '.git/index.lock');
  put(root, 'src/a.txt', 'two\n');
  const killed: Sandbox = {
    availability: sandbox.availability,
    run: async (layout, argv, options) => {
      if (!argv.includes('update-index')) return sandbox.run(layout, argv, options);
      const script = ['sh', '-c', 'touch .git/index.lock; sleep 1000'];
      return sandbox.run(layout, script, { ...options, seconds: 2 });
    },
  };
  const run = runner(killed, root);
  expect(await shown(run, 'add .')).toMatchObject({ timedOut: true, paths: [] });
  expect(existsSync(lock)).toBe(false);
  expect(await shown(runner(sandbox, root), 'add .')).toMatchObject({ exit: 0, paths: ['src/a.txt'] });
  put(root, 'src/a.txt', 'three\n');
  writeFileSync(lock, '');
  expect(await shown(run, 'add .')).toMatchObject({ timedOut: true });
  expect(existsSync(lock)).toBe(true);
});

test('a refusal of bash-git names the file as the agent wrote it', async () => {
  const { root } = repository();
  const output = await shown(runner(sandbox, root), 'log nosuch');
  expect(output['stderr']).toBe("fatal: bad revision 'nosuch'\n");
});

describe('a masked file in the git history', () => {
  /** A secret that was committed under a masked name, then under one that is not. */
  function history() {
    const { root } = repository();
    put(root, '.env', 'OLD-SECRET\n'.repeat(9));
    git(root, 'add', '-f', '.env');
    git(root, 'commit', '-qm', 'only a secret');
    put(root, '.env', `NEW-SECRET\n${'x\n'.repeat(20)}`);
    git(root, 'commit', '-qam', 'another');
    git(root, 'mv', '.env', 'settings.txt');
    put(root, 'settings.txt', `public\n${'x\n'.repeat(20)}`);
    git(root, 'commit', '-qam', 'renamed');
    return { root, run: runner(sandbox, root) };
  }

  test.runIf(isDeep)('is not shown by a log that follows another file’s renames', async () => {
    const { root, run } = history();
    for (const sub of [
      'log -p --follow settings.txt',
      'log -p --follow -1 settings.txt',
      'log --follow --stat settings.txt',
    ]) {
      const { outcome } = await run({ sub });
      expect(outcome, sub).toMatchObject({ status: 'refused', code: 'out-of-scope' });
      expect(JSON.stringify(outcome)).toContain('.env, which is masked');
    }
    expect((await shown(run, 'log --follow --oneline settings.txt'))['stdout']).toContain('another');
    git(root, 'config', 'log.follow', 'true');
    for (const sub of ['log -p settings.txt', 'log -p -M settings.txt', 'show -M', 'diff -M HEAD~1'])
      expect(JSON.stringify(await shown(run, sub)), sub).not.toContain('SECRET');
    expect((await shown(run, 'log -p --follow README.md'))['stdout']).toContain('+read me');
  });

  test.runIf(isDeep)('is left out of the log while its commits stay, and the result says so', async () => {
    const { run } = history();
    expect(await shown(run, 'show HEAD~2')).toMatchObject({
      stdout: expect.stringContaining('only a secret'),
      masked: ['.env'],
    });
    const log = await shown(run, 'log -p -2');
    expect(log).toMatchObject({ masked: ['.env'] });
    expect(`${log['stdout']}`.match(/^commit /gm)).toHaveLength(2);
    expect(log['stdout']).toContain('another');
    expect((await shown(run, 'log -p -S SECRET'))['stdout']).not.toContain('another');
    expect(await shown(run, 'log -p src')).not.toHaveProperty('masked');
  });

  test.runIf(isDeep)('of a submodule is not shown, whatever the configuration says', async () => {
    const { root, remote } = repository();
    git(root, 'submodule', '--quiet', 'add', remote, 'sub');
    git(root, 'commit', '-qm', 'submodule');
    put(join(root, 'sub'), '.env', 'SECRET\n');
    git(join(root, 'sub'), 'add', '-f', '.env');
    git(join(root, 'sub'), 'commit', '-qm', 'secret');
    git(root, 'config', 'diff.submodule', 'diff');
    git(root, 'config', 'status.submoduleSummary', 'true');
    const run = runner(sandbox, root);
    expect(JSON.stringify(await shown(run, 'diff'))).not.toContain('SECRET');
    git(root, 'commit', '-qam', 'bump');
    for (const sub of ['show', 'log -p', 'diff HEAD~1', 'status'])
      expect(JSON.stringify(await shown(run, sub)), sub).not.toContain('SECRET');
    expect((await shown(run, 'show'))['stdout']).toContain('+Subproject commit');
  });
});

test.runIf(isDeep)('the files that bash-git adds to a shared repository are writable for the group', async () => {
  const folder = temporaryFolder();
  const root = join(folder, 'shared');
  git(folder, 'init', '-q', '-b', 'main', '--shared=group', root);
  put(root, 'a', 'a\n');
  const run = runner(sandbox, root);
  expect(resultOf(await run({ sub: 'add', args: ['a'] }))).toMatchObject({ exit: 0 });
  expect(await shown(run, 'commit -m x')).toMatchObject({ committed: true });
  const tree = git(root, 'rev-parse', 'HEAD^{tree}');
  expect(statSync(join(root, '.git/objects', tree.slice(0, 2))).mode & 0o7070).toBe(0o2070);
});

test.runIf(isDeep)('bash-git works with sha256, in a shallow clone and in a partial one', async () => {
  const folder = temporaryFolder();
  const newer = join(folder, 'sha256');
  git(folder, 'init', '-q', '-b', 'main', '--object-format=sha256', newer);
  git(folder, 'init', '-q', '--bare', '-b', 'main', '--object-format=sha256', join(folder, 'sha256.git'));
  git(newer, 'remote', 'add', 'origin', '../sha256.git');
  put(newer, 'src/a.txt', 'one\n');
  git(newer, 'add', '.');
  git(newer, 'commit', '-qm', 'first');
  const { remote } = repository();
  git(remote, 'config', 'uploadpack.allowFilter', 'true');
  const clone = (name: string, ...how: string[]) => {
    git(folder, 'clone', '-q', ...how, `file://${remote}`, join(folder, name));
    return join(folder, name);
  };
  for (const root of [newer, clone('shallow', '--depth=1'), clone('blobless', '--filter=blob:none')]) {
    if (root !== newer) git(root, 'pull', '-q');
    put(root, 'src/a.txt', `${root}\n`);
    const run = runner(sandbox, root);
    expect(await shown(run, 'commit -am x'), root).toMatchObject({ committed: true, paths: ['src/a.txt'] });
    expect(await shown(run, 'push'), root).toMatchObject({ pushed: true });
    expect((await shown(run, 'log -p -1'))['stdout'], root).toContain(`+${root}`);
  }
});
