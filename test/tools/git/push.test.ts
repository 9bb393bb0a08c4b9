import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findPushTarget } from '../../../src/tools/git/credentials/push-target.ts';
import { gitLayout } from '../../../src/tools/git/git-layout.ts';
import { sandboxOfProcess } from '../../../src/tools/sandbox/detect-sandbox.ts';
import { isStop } from '../../../src/tools/workspace/tool-stop.ts';
import { isDeep, sample } from '../../depth.ts';
import { git, put, repository, resultOf, runner } from './support.ts';

const sandbox = await sandboxOfProcess();

/** A repository whose main is one commit ahead of its remote. */
function ahead() {
  const repo = repository();
  put(repo.root, 'src/a.txt', 'two\n');
  git(repo.root, 'commit', '-qam', 'second');
  return { ...repo, run: runner(sandbox, repo.root), tip: git(repo.root, 'rev-parse', 'HEAD') };
}

/** Someone else pushes first. */
function diverge(folder: string, remote: string): string {
  const other = join(folder, 'other');
  git(folder, 'clone', '-q', remote, other);
  put(other, 'other.txt', 'x\n');
  git(other, 'add', '.');
  git(other, 'commit', '-qm', 'other');
  git(other, 'push', '-q', 'origin', 'main');
  return git(other, 'rev-parse', 'HEAD');
}

describe('git push', () => {
  test.runIf(isDeep)('reports the remote’s rejection, and the remote keeps its commits', async () => {
    const { folder, remote, run } = ahead();
    const theirs = diverge(folder, remote);
    const report = await run({ sub: 'push' });
    expect(resultOf(report)).toMatchObject({ pushed: false, upToDate: false, rejected: '[rejected] (fetch first)' });
    expect(report.effects).toEqual([]);
    expect(git(remote, 'rev-parse', 'main')).toBe(theirs);
  });

  test.runIf(isDeep)('to a damaged remote quotes the line in which git says why', async () => {
    const { remote, run } = ahead();
    rmSync(join(remote, 'HEAD'));
    expect((await run({ sub: 'push' })).outcome).toMatchObject({
      code: 'remote-unreachable',
      message: expect.stringMatching(/does not answer: fatal: .+ does not appear to be a git repository; ask/),
    });
  });

  test.runIf(isDeep)('is fast-forward only, even if the configuration asks for force', async () => {
    const { folder, root, remote, run } = ahead();
    const theirs = diverge(folder, remote);
    git(root, 'config', '--add', 'remote.origin.push', '+refs/heads/*:refs/heads/*');
    git(root, 'fetch', '-q');
    expect(resultOf(await run({ sub: 'push' }))).toMatchObject({
      pushed: false,
      rejected: '[rejected] (non-fast-forward)',
    });
    expect(git(remote, 'rev-parse', 'main')).toBe(theirs);
  });

  test.runIf(isDeep)('sends the commit that was compared, even if the branch moves meanwhile', async () => {
    const { root, remote, tip } = ahead();
    const moving: typeof sandbox = {
      ...sandbox,
      availability: sandbox.availability,
      run: async (layout, argv, options) => {
        const ran = await sandbox.run(layout, argv, options);
        if (argv.includes('ls-remote')) git(root, 'commit', '-q', '--allow-empty', '-m', 'later');
        return ran;
      },
    };
    expect(resultOf(await runner(moving, root)({ sub: 'push' }))).toMatchObject({ pushed: true, sha: tip });
    expect(git(remote, 'rev-parse', 'main')).toBe(tip);
    expect(git(root, 'rev-parse', 'origin/main')).toBe(tip);
  });

  test.runIf(isDeep)('creates a branch that is missing on the remote', async () => {
    const { root, remote, tip } = ahead();
    git(root, 'checkout', '-qb', 'topic/x');
    const run = runner(sandbox, root, { config: { git: { remote: 'origin', branch: 'topic/x' } } });
    const report = await run({ sub: 'push origin topic/x' });
    expect(resultOf(report)).toMatchObject({ pushed: true, branch: 'topic/x', sha: tip });
    expect(report.effects).toEqual([{ path: 'refs/heads/topic/x', op: 'ref', after: tip }]);
    expect(git(remote, 'rev-parse', 'topic/x')).toBe(tip);
  });

  test('goes only to the configured branch of the configured remote', async () => {
    const { folder, root, remote, run } = ahead();
    git(root, 'remote', 'add', 'evil', join(folder, 'evil.git'));
    git(folder, 'init', '-q', '--bare', join(folder, 'evil.git'));
    for (const args of [
      ['evil'],
      ['origin', 'other'],
      [join(folder, 'evil.git')],
      ['origin', '+main'],
      ['origin', 'main:other'],
      ['origin', ':main'],
      ['ext::sh -c x'],
    ])
      expect((await run({ sub: 'push', args })).outcome, `${args}`).toMatchObject({
        status: 'refused',
        code: 'out-of-scope',
      });
    expect(JSON.stringify(await run({ sub: 'push', args: ['origin', 'other'] }))).toContain('to git.branch, as in');
    expect((await run({ sub: 'push', args: ['origin', 'main', 'other'] })).outcome).toMatchObject({
      status: 'refused',
      code: 'invalid-action',
    });
    expect(git(remote, 'log', '-1', '--format=%s', 'main')).toBe('first');
  });

  test('is refused without a configuration, and names the key', async () => {
    const { run } = ahead();
    expect((await run({ sub: 'push' }, { config: { git: null } })).outcome).toMatchObject({
      status: 'refused',
      code: 'out-of-scope',
      remedy: expect.stringContaining('hopgate.yaml'),
    });
  });

  test('is refused if the repository’s configuration redirects it', async () => {
    const { folder, root, remote, run } = ahead();
    const elsewhere = join(folder, 'elsewhere.git');
    git(folder, 'init', '-q', '--bare', elsewhere);
    const inside = join(root, 'src', 'inside.git');
    git(folder, 'init', '-q', '--bare', inside);
    const mark = join(root, '.git', 'ran');
    const cases: readonly (readonly [string, string])[] = [
      [`url.${elsewhere}.pushInsteadOf`, remote],
      [`url.${elsewhere}.insteadOf`, remote],
      ['remote.origin.mirror', 'true'],
      ['remote.origin.pushurl', inside],
      ['remote.origin.pushurl', `ext::sh -c 'touch ${mark}'`],
      ['remote.origin.pushurl', 'git://example.com/x'],
      ['remote.origin.pushurl', 'http://example.com/x'],
      ['remote.origin.pushurl', '-oProxyCommand=touch'],
      ['remote.origin.pushurl', 'ssh://-oProxyCommand=touch/x'],
    ];
    for (const [key, value] of sample(cases, 4)) {
      git(root, 'config', key, value);
      expect((await run({ sub: 'push' })).outcome, `${key} ${value}`).toMatchObject({ status: 'refused' });
      git(root, 'config', '--unset-all', key);
    }
    git(root, 'config', '--add', 'remote.origin.pushurl', remote);
    git(root, 'config', '--add', 'remote.origin.pushurl', elsewhere);
    expect((await run({ sub: 'push' })).outcome).toMatchObject({ status: 'refused', code: 'out-of-scope' });
    git(root, 'config', '--unset-all', 'remote.origin.pushurl');
    expect(existsSync(mark)).toBe(false);
    expect(resultOf(await run({ sub: 'push' }))).toMatchObject({ pushed: true });
  });

  test.runIf(isDeep)('accepts a relative address of the remote, and reports a missing remote', async () => {
    const { root, run } = ahead();
    git(root, 'remote', 'set-url', 'origin', '../remote.git');
    expect(resultOf(await run({ sub: 'push' }))).toMatchObject({ pushed: true });
    git(root, 'remote', 'set-url', 'origin', '../gone.git');
    expect((await run({ sub: 'push' })).outcome).toMatchObject({ status: 'failed', code: 'no-such-remote' });
    git(root, 'remote', 'remove', 'origin');
    expect((await run({ sub: 'push' })).outcome).toMatchObject({ status: 'failed', code: 'no-such-remote' });
  });

  test.runIf(isDeep)('runs the hook of a local remote, in the sandbox', async () => {
    const { folder, remote, run } = ahead();
    const mark = join(folder, 'outside');
    mkdirSync(join(remote, 'hooks'), { recursive: true });
    writeFileSync(join(remote, 'hooks/pre-receive'), `#!/bin/sh\necho not on Fridays >&2\ntouch '${mark}'\nexit 1\n`, {
      mode: 0o755,
    });
    const result = resultOf(await run({ sub: 'push' }));
    expect(result).toMatchObject({ pushed: false, rejected: '[remote rejected] (pre-receive hook declined)' });
    expect(result['stderr']).toContain('not on Fridays');
    expect(existsSync(mark)).toBe(false);
  });

  test('sees neither the work tree nor the network if the remote is local', async () => {
    const { root, remote } = ahead();
    const layout = gitLayout(
      { root, gitDir: join(root, '.git'), commonDir: join(root, '.git') },
      { kind: 'push', target: { kind: 'local', url: remote, path: remote } },
      [],
    );
    const shell = async (script: string) =>
      (
        await sandbox.run(layout, ['bash', '-c', script], {
          seconds: 20,
          outputBytes: 4096,
          signal: new AbortController().signal,
        })
      ).exit;
    expect(await shell('test -e README.md || test -e src')).not.toBe(0);
    expect(await shell('echo x >> .git/config')).not.toBe(0);
    expect(await shell('test -r .git/HEAD')).toBe(0);
    expect(layout.network).toBe(false);
  });
});

test.each([
  ['ssh://git@example.com/x.git', { scheme: 'ssh', user: { name: 'git', password: null } }],
  ['ssh://git@Example.com:2222/x.git', { scheme: 'ssh', user: { name: 'git', password: null } }],
  ['ssh://git:pw@example.com/x.git', { scheme: 'ssh', url: 'ssh://git@example.com/x.git' }],
  ['https://example.com/x.git', { scheme: 'https', user: null }],
  ['https://me@example.com/x.git', { url: 'https://example.com/x.git', user: { name: 'me', password: null } }],
  ['https://me:p%40w@example.com/x.git', { url: 'https://example.com/x.git', user: { name: 'me', password: 'p@w' } }],
  ['HTTPS://example.com/X.git', { scheme: 'https', url: 'https://example.com/X.git' }],
  ['git@example.com:team/x.git', { scheme: 'ssh', url: 'git@example.com:team/x.git' }],
] as const)('a push to %s needs the network', (url, wanted) => {
  const { root } = repository();
  const repo = { root, gitDir: join(root, '.git'), commonDir: join(root, '.git') };
  const target = findPushTarget(repo, { remote: 'origin' }, [{ key: 'remote.origin.url', value: url }]);
  if (isStop(target)) throw new Error(JSON.stringify(target));
  expect(target).toMatchObject({ kind: 'network', host: 'example.com', ...wanted });
  expect(gitLayout(repo, { kind: 'push', target }, []).network).toBe(true);
});
