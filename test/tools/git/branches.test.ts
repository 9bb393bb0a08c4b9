import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../../src/spec/types.ts';
import { sandboxOfProcess } from '../../../src/tools/sandbox/detect-sandbox.ts';
import { isDeep, sample } from '../../depth.ts';
import { git, put, repository, resultOf, runner } from './support.ts';

const sandbox = await sandboxOfProcess();
const BRANCHES = { git: { remote: 'origin', branch: ['main', 'agent/*'] } };

function start(config: object = BRANCHES) {
  const place = repository();
  return { ...place, run: runner(sandbox, place.root, { config }) };
}

const refs = (root: string) => git(root, 'for-each-ref', '--format=%(refname) %(objectname)');
const head = (root: string) => git(root, 'symbolic-ref', 'HEAD');

describe('a branch', () => {
  const CREATING: readonly (readonly [sub: string, args: string[]])[] = [
    ['switch', ['-c', 'agent/fix']],
    ['switch', ['--create=agent/fix', 'HEAD']],
    ['checkout', ['-b', 'agent/fix', 'main']],
  ];
  test.each(sample(CREATING, 3))(
    'is created by git %s %j, and the files with their uncommitted changes stay as they are',
    async (sub, args) => {
      const { root, run } = start();
      put(root, 'src/a.txt', 'two\n');
      const tip = git(root, 'rev-parse', 'HEAD');
      const report = await run({ sub, args });
      expect(resultOf(report)).toMatchObject({ exit: 0, branch: 'agent/fix', created: true });
      expect(report.effects).toEqual([
        { path: 'refs/heads/agent/fix', op: 'ref', after: tip },
        { path: 'HEAD', op: 'ref', before: tip, after: tip },
      ]);
      expect(head(root)).toBe('refs/heads/agent/fix');
      expect(git(root, 'status', '--short')).toBe('M src/a.txt');
      expect(git(root, 'reflog', '-1', '--format=%gs')).toBe('checkout: moving from main to agent/fix');
    },
  );

  test.runIf(isDeep)('is created by git branch, and a switch to it is possible only at the same commit', async () => {
    const { root, run } = start();
    expect(resultOf(await run({ sub: 'branch agent/fix' }))).toMatchObject({ exit: 0, created: true });
    expect(head(root)).toBe('refs/heads/main');
    expect(resultOf(await run({ sub: 'switch agent/fix' }))).toMatchObject({ exit: 0, created: false });
    put(root, 'src/a.txt', 'two\n');
    resultOf(await run({ sub: 'commit -am two' }));
    expect((await run({ sub: 'switch main' })).outcome).toMatchObject({ code: 'out-of-scope' });
    expect((await run({ sub: 'switch -c agent/fix' })).outcome).toMatchObject({ code: 'branch-exists' });
    expect((await run({ sub: 'switch agent/other' })).outcome).toMatchObject({ code: 'no-such-branch' });
    expect(head(root)).toBe('refs/heads/agent/fix');
  });

  test.runIf(isDeep)('is pushed with -u, and its upstream is recorded', async () => {
    const { root, remote, run } = start();
    resultOf(await run({ sub: 'switch -c agent/fix' }));
    put(root, 'src/a.txt', 'two\n');
    resultOf(await run({ sub: 'commit -am two' }));
    const tip = git(root, 'rev-parse', 'HEAD');
    const report = await run({ sub: 'push -u origin HEAD' });
    expect(resultOf(report)).toMatchObject({ pushed: true, branch: 'agent/fix', upstream: true });
    expect(report.effects).toEqual([{ path: 'refs/heads/agent/fix', op: 'ref', after: tip }]);
    expect(git(remote, 'rev-parse', 'agent/fix')).toBe(tip);
    expect(git(remote, 'rev-parse', 'main')).not.toBe(tip);
    expect(git(root, 'rev-parse', '--abbrev-ref', '@{upstream}')).toBe('origin/agent/fix');
    expect(resultOf(await run({ sub: 'push' }))).toMatchObject({ pushed: false, upToDate: true, branch: 'agent/fix' });
  });

  test.each(
    sample<readonly [sub: string, args: string[]]>(
      [
        ['switch', ['-c', 'other']],
        ['switch', ['-c', 'agent/deep/er']],
        ['switch', ['-c', 'agent/']],
        ['switch', ['-c', 'agent/x.lock']],
        ['switch', ['-c', 'agent/..']],
        ['switch', ['-c', 'refs/heads/agent/x']],
        ['switch', ['-c', '-f']],
        ['switch', ['-c', 'agent/x', 'HEAD~0^{tree}']],
        ['switch', ['-c', 'agent/x', 'elsewhere']],
        ['checkout', ['elsewhere']],
        ['branch', ['other']],
        ['push', ['origin', 'elsewhere']],
        ['push', ['origin', 'agent/*']],
        ['push', ['origin', 'main:agent/x']],
        ['push', ['-u', 'evil', 'main']],
      ],
      8,
    ),
  )('is not created by git %s %j, and no ref moves', async (sub, args) => {
    const { root, remote, run } = start();
    git(root, 'branch', 'elsewhere');
    put(root, 'src/b.txt', 'b\n');
    git(root, 'add', '.');
    git(root, 'commit', '-qm', 'second');
    const before = [refs(root), head(root), refs(remote), git(root, 'config', '--list')];
    const { outcome, effects } = await run({ sub, args });
    expect(outcome).toMatchObject({ status: 'refused' });
    expect(effects).toEqual([]);
    expect([refs(root), head(root), refs(remote), git(root, 'config', '--list')]).toEqual(before);
  });

  test.each([
    [{ git: null }, 'switch -c agent/x'],
    [{ git: { remote: 'origin', branch: 'main' } }, 'switch -c agent/x'],
    [{ git: { remote: 'origin', branch: ['agent/*'] } }, 'push'],
    [{ git: { remote: 'origin', branch: ['agent/*'] } }, 'push origin HEAD'],
  ])('with the configuration %j is refused with a remedy: git %s', async (config, sub) => {
    const { outcome } = await start(config).run({ sub });
    expect(outcome).toMatchObject({ status: 'refused', code: 'out-of-scope', remedy: expect.stringMatching(/branch/) });
  });

  test.runIf(isDeep)('is created without running a hook of the repository', async () => {
    const { root, run } = start();
    for (const hook of ['post-checkout', 'reference-transaction', 'pre-push', 'post-commit'])
      put(root, `.git/hooks/${hook}`, `#!/bin/sh\ntouch ${join(root, 'ran')}\n`, 0o755);
    resultOf(await run({ sub: 'switch -c agent/fix' }));
    resultOf(await run({ sub: 'push -u' }));
    expect(git(root, 'status', '--short')).toBe('');
  });
});

test.each<[string, string | null, string]>([
  ['rebase', null, 'the operator rebases'],
  ['cherry-pick', null, 'cherry-pick --no-commit'],
  ['merge', null, 'merge --squash'],
  ['reset', null, 'the operator rebases'],
  ['stash', null, 'with bash'],
  ['mv', null, 'with bash'],
  ['pull', null, 'Ask the operator to run git fetch'],
  ['tag', null, 'Ask the operator'],
  ['commit', '--amend', 'Add a further commit'],
  ['push', '--force-with-lease', 'fast-forward only'],
  ['branch', '-D', 'Ask the operator'],
])('git %s %s is refused with the remedy', async (sub, option, way) => {
  const args: Json = option === null ? [] : [option];
  expect((await start().run({ sub, args })).outcome).toMatchObject({
    status: 'refused',
    remedy: expect.stringContaining(way),
  });
});
