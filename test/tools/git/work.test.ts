import { chmodSync, readFileSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { gitBackend } from '../../../src/tools/git/git-backend.ts';
import { sandboxOfProcess } from '../../../src/tools/sandbox/detect-sandbox.ts';
import type { Sandbox } from '../../../src/tools/sandbox/sandbox.ts';
import { isDeep, sample } from '../../depth.ts';
import {
  type CallOptions,
  git,
  gitCall,
  noSandbox,
  put,
  repository,
  resultOf,
  runner,
  temporaryFolder,
} from './support.ts';

const sandbox = await sandboxOfProcess();

test('the sandbox is available for these tests', () => expect(sandbox.availability).toMatchObject({ ok: true }));

const PLACES: readonly (readonly [string, Sandbox, CallOptions])[] = [
  ['in the sandbox', sandbox, {}],
  ['without one, opened by the operator', noSandbox, { unsafeNoSandbox: true }],
];

describe.each(sample(PLACES, 2))('bash-git %s', (_, box, defaults) => {
  test('stages, commits and pushes, and reports each effect', async () => {
    const { root, remote } = repository();
    const run = runner(box, root, defaults);
    const before = git(root, 'rev-parse', 'HEAD');
    put(root, 'src/b.txt', 'b\n');
    put(root, 'src/a.txt', 'two\n');

    const status = resultOf(await run({ sub: 'status', args: ['--short'] }));
    expect(status).toMatchObject({
      sub: 'status',
      exit: 0,
      stdout: ' M src/a.txt\n?? src/b.txt\n',
      truncated: false,
      timedOut: false,
    });
    expect(resultOf(await run({ sub: 'diff', args: ['src/a.txt'] }))['stdout']).toContain('+two');

    const add = await run({ sub: 'add', args: ['.'] });
    expect(resultOf(add)).toMatchObject({ exit: 0, paths: ['src/a.txt', 'src/b.txt'], skipped: [] });
    expect(add.effects).toEqual([]);
    expect(git(root, 'diff', '--cached', '--name-only')).toBe('src/a.txt\nsrc/b.txt');

    const commit = await run({ sub: 'commit', args: ['-m', '--force is just text', '-m', 'so is --amend'] });
    const after = git(root, 'rev-parse', 'HEAD');
    expect(resultOf(commit)).toMatchObject({
      committed: true,
      sha: after,
      ref: 'refs/heads/main',
      paths: ['src/a.txt', 'src/b.txt'],
    });
    expect(commit.effects).toEqual([{ path: 'refs/heads/main', op: 'ref', before, after }]);
    expect(git(root, 'log', '-1', '--format=%an <%ae>%n%B')).toBe(
      'Operator <operator@example.com>\n--force is just text\n\nso is --amend',
    );

    const push = await run({ sub: 'push', args: ['origin', 'main'] });
    expect(resultOf(push)).toMatchObject({
      pushed: true,
      upToDate: false,
      sha: after,
      remote: 'origin',
      branch: 'main',
      network: false,
    });
    expect(push.effects).toEqual([{ path: 'refs/heads/main', op: 'ref', before, after }]);
    expect(git(remote, 'rev-parse', 'main')).toBe(after);
    expect(git(root, 'rev-parse', 'refs/remotes/origin/main')).toBe(after);

    const again = await run({ sub: 'push' });
    expect(resultOf(again)).toMatchObject({ pushed: false, upToDate: true, sha: after });
    expect(again.effects).toEqual([]);
  });

  test.runIf(isDeep)('says that there is nothing to commit', async () => {
    const { root } = repository();
    const report = await runner(box, root, defaults)({ sub: 'commit', args: ['-m', 'empty'] });
    expect(resultOf(report)).toMatchObject({ exit: 1, committed: false, sha: null, paths: [] });
    expect(report.effects).toEqual([]);
  });
});

describe('the number of sandboxed commands', () => {
  const counted = (root: string) => {
    const commands: string[] = [];
    const box: Sandbox = {
      availability: sandbox.availability,
      run: (layout, argv, options) => {
        commands.push(argv.join(' '));
        return sandbox.run(layout, argv, options);
      },
    };
    const run = runner(box, root);
    return async (args: Parameters<typeof run>[0]) => {
      const before = commands.length;
      const { outcome } = await run(args);
      const now = commands.slice(before);
      return { outcome, commands: now.length, lists: now.filter((one) => one.includes('config --list')).length };
    };
  };
  const BAD = '[filter "x"]\n\tclean = ./evil\n';

  test.runIf(isDeep)('is one for a status and four for a commit, once the configuration has been read', async () => {
    const { root } = repository();
    const run = counted(root);
    expect(await run({ sub: 'status' })).toMatchObject({ commands: 2, lists: 1 });
    expect(await run({ sub: 'status' })).toMatchObject({ commands: 1, lists: 0 });
    put(root, 'src/a.txt', 'two\n');
    await run({ sub: 'add', args: ['.'] });
    const commit = await run({ sub: 'commit', args: ['-m', 'second'] });
    expect(commit).toMatchObject({ outcome: { result: { committed: true } }, commands: 4 });
  });

  test.runIf(isDeep)(
    'rises by one for reading a changed configuration; one that includes files is read in each call',
    async () => {
      const { root } = repository();
      const run = counted(root);
      await run({ sub: 'status' });
      const usual = readFileSync(join(root, '.git/config'), 'utf8');
      put(root, '.git/config', usual + BAD);
      expect(await run({ sub: 'status' })).toMatchObject({ outcome: { code: 'out-of-scope' }, lists: 1 });
      put(root, '.git/config', `${usual}[extensions]\n\tworktreeConfig = true\n`);
      expect(await run({ sub: 'status' })).toMatchObject({ outcome: { status: 'ok' }, lists: 1 });
      put(root, '.git/config.worktree', BAD);
      expect(await run({ sub: 'status' })).toMatchObject({ outcome: { code: 'out-of-scope' }, lists: 1 });
      put(root, '.git/config.worktree', '[Include]\n\tpath = more\n');
      put(root, '.git/more', '');
      expect(await run({ sub: 'status' })).toMatchObject({ outcome: { status: 'ok' }, lists: 1 });
      put(root, '.git/more', BAD);
      expect(await run({ sub: 'status' })).toMatchObject({ outcome: { code: 'out-of-scope' }, lists: 1 });
    },
  );
});

describe('bash-git', () => {
  const run = (root: string, options = {}) => runner(sandbox, root, options);

  test.runIf(isDeep)('accepts a whole command line, and stages tracked files only with -a', async () => {
    const { root } = repository();
    put(root, 'src/a.txt', 'two\n');
    put(root, 'src/new.txt', 'new\n');
    expect(resultOf(await run(root)({ sub: "git commit -am 'fix: it; $(x)'" }))).toMatchObject({
      committed: true,
      paths: ['src/a.txt'],
    });
    expect(git(root, 'log', '-1', '--format=%s')).toBe('fix: it; $(x)');
    expect(git(root, 'status', '--short')).toBe('?? src/new.txt');
  });

  test('lists branches, and marks the current one', async () => {
    const { root } = repository();
    const branch = git(root, 'branch', '--show-current');
    expect(resultOf(await run(root)({ sub: 'branch --show-current' }))['stdout']).toBe(`${branch}\n`);
    expect(resultOf(await run(root)({ sub: 'branch', args: ['--all'] }))['stdout']).toContain(branch);
  });

  test.runIf(isDeep)('commits a first line of 300,000 characters', async () => {
    const { root } = repository();
    put(root, 'src/a.txt', 'two\n');
    const long = 'x'.repeat(300_000);
    expect(resultOf(await run(root)({ sub: 'commit', args: ['-am', long] }))).toMatchObject({ committed: true });
    expect(git(root, 'log', '-1', '--format=%s')).toBe(long);
  });

  test.runIf(isDeep)('commits with the repository’s own user if it names one', async () => {
    const { root } = repository();
    git(root, 'config', 'user.name', 'Team Bot');
    git(root, 'config', 'user.email', 'bot@example.com');
    put(root, 'src/a.txt', 'two\n');
    await run(root)({ sub: 'commit -am x' });
    expect(git(root, 'log', '-1', '--format=%an %ae %cn')).toBe('Team Bot bot@example.com Team Bot');
  });

  test('stages deleted, renamed, linked and executable files, and odd names', async () => {
    const { root } = repository();
    unlinkSync(join(root, 'README.md'));
    symlinkSync('/etc/passwd', join(root, 'link'));
    chmodSync(join(root, 'src/a.txt'), 0o755);
    put(root, ':(top) *odd\n"name"', 'x');
    put(root, '-n', 'x');
    const staged = resultOf(await run(root)({ sub: 'add', args: ['-A'] }));
    expect(staged['paths']).toEqual(['-n', ':(top) *odd\n"name"', 'README.md', 'link', 'src/a.txt']);
    expect(
      git(root, 'diff', '--cached', '--name-status', '-z')
        .split('\0')
        .filter((field) => field.length > 1),
    ).toEqual(['-n', ':(top) *odd\n"name"', 'README.md', 'link', 'src/a.txt']);
  });

  test('stages no masked or protected file, and refuses one that the call names', async () => {
    const { root } = repository();
    for (const path of ['.env', 'deep/.env', '.npmrc', 'hopgate.yaml', '.claude/settings.json', 'src/ok.txt'])
      put(root, path, 'x\n');
    const staged = resultOf(await run(root)({ sub: 'add', args: ['.'] }));
    expect(staged['paths']).toEqual(['src/ok.txt']);
    expect(staged['skipped']).toEqual(['.claude/settings.json', '.env', '.npmrc', 'deep/.env', 'hopgate.yaml']);
    for (const path of [
      '.env',
      './.env',
      'src/../.env',
      '.npmrc',
      'hopgate.yaml',
      '.git/config',
      '../outside',
      '/etc/passwd',
    ])
      expect((await run(root)({ sub: 'add', args: [path] })).outcome, path).toMatchObject({
        status: 'refused',
        code: 'out-of-scope',
      });
    expect(git(root, 'diff', '--cached', '--name-only')).toBe('src/ok.txt');
  });

  test.runIf(isDeep)('stages only files that edit may change if the configuration says so', async () => {
    const { root } = repository();
    put(root, 'src/b.txt', 'b\n');
    put(root, 'source/c.txt', 'c\n');
    const scoped = run(root, { config: { scopes: { edit: ['src/'] } } });
    expect(resultOf(await scoped({ sub: 'add', args: ['.'] }))).toMatchObject({
      paths: ['src/b.txt'],
      skipped: ['source/c.txt'],
    });
    expect((await scoped({ sub: 'add', args: ['source/c.txt'] })).outcome).toMatchObject({
      status: 'refused',
      code: 'out-of-scope',
    });
  });

  test.runIf(isDeep)('commits no change of a masked file, although git commit -a would', async () => {
    const { root } = repository();
    put(root, '.env', 'TOKEN=1\n');
    git(root, 'add', '-f', '.env');
    git(root, 'commit', '-qm', 'env');
    put(root, '.env', 'TOKEN=2\n');
    put(root, 'src/a.txt', 'two\n');
    expect(resultOf(await run(root)({ sub: 'commit -am x' }))).toMatchObject({
      committed: true,
      paths: ['src/a.txt'],
      skipped: ['.env'],
    });
    expect(git(root, 'show', 'HEAD:.env')).toBe('TOKEN=1');
  });

  test('never shows the content of a masked file, not even an older one', async () => {
    const { root } = repository();
    for (const [path, text] of [
      ['.env', 'SECRET-1'],
      ['a/.env', 'SECRET-2'],
      ['.env', 'SECRET-3'],
    ] as const) {
      put(root, path, `${text}\n`);
      git(root, 'add', '-f', path);
      git(root, 'commit', '-qm', path);
    }
    put(root, '.env', 'SECRET-4\n');
    put(root, 'src/a.txt', 'two\n');
    const commands = [
      'diff',
      'diff HEAD',
      'diff HEAD~3',
      'diff HEAD~3..HEAD',
      'show',
      'show HEAD~1',
      'log -p',
      'log -p -1',
      'log -p -n1 --skip 1',
      'log -U9',
      'log -p --reverse',
      'diff --word-diff',
    ];
    for (const sub of sample(commands, 6))
      expect(resultOf(await run(root)({ sub }))['stdout'], sub).not.toContain('SECRET');
    expect(resultOf(await run(root)({ sub: 'diff' }))['stdout']).toContain('+two');
    for (const args of [['--', '.env'], ['HEAD', '--', 'a/.env'], ['.env']])
      expect((await run(root)({ sub: 'diff', args })).outcome).toMatchObject({
        status: 'refused',
        code: 'out-of-scope',
      });
  });

  test('shows no blob by its id', async () => {
    const { root } = repository();
    put(root, '.env', 'SECRET\n');
    const blob = git(root, 'hash-object', '-w', '.env');
    const shown = resultOf(await run(root)({ sub: 'show', args: [blob] }));
    expect(shown['exit']).not.toBe(0);
    expect(JSON.stringify(shown)).not.toContain('SECRET');
    expect(resultOf(await run(root)({ sub: 'show', args: ['HEAD'] }))).toMatchObject({ exit: 0 });
  });

  test.runIf(isDeep)('unstages files', async () => {
    const { root } = repository();
    put(root, 'src/a.txt', 'two\n');
    git(root, 'add', '.');
    expect(resultOf(await run(root)({ sub: 'restore', args: ['--staged', '.'] }))).toMatchObject({ exit: 0 });
    expect(git(root, 'diff', '--cached', '--name-only')).toBe('');
    expect(readFileSync(join(root, 'src/a.txt'), 'utf8')).toBe('two\n');
    expect((await run(root)({ sub: 'restore', args: ['src/a.txt'] })).outcome).toMatchObject({
      status: 'refused',
      code: 'invalid-action',
    });
  });

  test.runIf(isDeep)('works before the first commit and on a detached HEAD', async () => {
    const fresh = temporaryFolder();
    git(fresh, 'init', '-q', '-b', 'main');
    put(fresh, 'a', 'a\n');
    await run(fresh)({ sub: 'add', args: ['a'] });
    const first = await run(fresh)({ sub: 'commit', args: ['-m', 'first'] });
    const sha = git(fresh, 'rev-parse', 'HEAD');
    expect(resultOf(first)).toMatchObject({ committed: true, sha, paths: ['a'] });
    expect(first.effects).toEqual([{ path: 'refs/heads/main', op: 'ref', after: sha }]);

    git(fresh, 'checkout', '-q', '--detach');
    put(fresh, 'a', 'b\n');
    const detached = await run(fresh)({ sub: 'commit -am detached' });
    expect(resultOf(detached)).toMatchObject({ committed: true, ref: 'HEAD' });
    expect(detached.effects).toEqual([
      { path: 'HEAD', op: 'ref', before: sha, after: git(fresh, 'rev-parse', 'HEAD') },
    ]);
    expect(git(fresh, 'rev-parse', 'main')).toBe(sha);
  });

  test.runIf(isDeep)('works in a linked work tree and in a submodule', async () => {
    const { folder, root, remote } = repository();
    const linked = join(folder, 'linked');
    git(root, 'worktree', 'add', '-q', '-b', 'side', linked);
    put(linked, 'src/a.txt', 'side\n');
    expect(resultOf(await run(linked)({ sub: 'commit -am side' }))).toMatchObject({
      committed: true,
      ref: 'refs/heads/side',
    });
    const pushed = await run(linked, { config: { git: { remote: 'origin', branch: 'side' } } })({ sub: 'push' });
    expect(resultOf(pushed)).toMatchObject({ pushed: true });

    git(root, 'submodule', '--quiet', 'add', remote, 'sub');
    const sub = join(root, 'sub');
    put(sub, 'src/a.txt', 'inner\n');
    expect((await run(root)({ sub: 'add sub/src/a.txt' })).outcome).toMatchObject({
      code: 'other-repository',
      message: expect.stringContaining('is in sub, a repository of its own'),
    });
    expect(resultOf(await run(sub)({ sub: 'commit -am inner' }))).toMatchObject({ committed: true });
    expect(git(sub, 'log', '-1', '--format=%s')).toBe('inner');
    expect(resultOf(await run(root)({ sub: 'status --short' }))['stdout']).toBe('A  .gitmodules\nAM sub\n');
  });

  test.runIf(isDeep)('fails in a folder that is not the work tree of a repository', async () => {
    const folder = temporaryFolder();
    const bare = join(folder, 'bare');
    git(folder, 'init', '-q', '--bare', bare);
    const { root } = repository();
    for (const place of [folder, bare, join(root, 'src')])
      expect((await run(place)({ sub: 'status' })).outcome, place).toMatchObject({
        status: 'failed',
        code: 'not-a-repository',
      });
    const link = join(folder, 'link');
    git(folder, 'init', '-q', link);
    git(folder, 'init', '-q', join(folder, 'other'));
    git(folder, 'clone', '-q', join(folder, 'link'), join(folder, 'third'));
    const thief = join(folder, 'thief');
    put(thief, '.git', `gitdir: ${join(root, '.git')}\n`);
    expect((await run(thief)({ sub: 'status' })).outcome).toMatchObject({ status: 'failed', code: 'not-a-repository' });
  });

  test('refuses every call without a sandbox', async () => {
    const { root } = repository();
    for (const sub of ['status', 'commit -m x', 'push'])
      expect((await runner(noSandbox, root)({ sub })).outcome).toMatchObject({
        status: 'refused',
        code: 'sandbox-unavailable',
      });
  });

  test.runIf(isDeep)('cuts long output and says so', async () => {
    const { root } = repository();
    put(root, 'src/a.txt', 'line\n'.repeat(50_000));
    const shown = resultOf(await run(root, { outputBytes: 4096 })({ sub: 'diff' }));
    expect(shown['truncated']).toBe(true);
    expect(String(shown['stdout']).length).toBeLessThan(10_000);
  });

  test('ends git if the call is aborted', async () => {
    const { root } = repository();
    const report = await run(root, { signal: AbortSignal.abort() })({ sub: 'status' });
    expect(report.outcome).toMatchObject({ status: 'failed', code: 'aborted' });
  });

  test.runIf(isDeep)('reports unknown effects of a call that was aborted', async () => {
    const ended = [
      ['commit -am x', 'commit-tree'],
      ['push', 'push'],
    ] as const;
    for (const [sub, verb] of ended) {
      const { root } = repository();
      put(root, 'src/a.txt', 'two\n');
      if (sub === 'push') git(root, 'commit', '-qam', 'second');
      const ending = new AbortController();
      const box: Sandbox = {
        availability: sandbox.availability,
        run: async (layout, argv, options) => {
          const result = await sandbox.run(layout, argv, options);
          if (argv.includes(verb) || (argv[0] === 'sh' && argv[2]!.includes(verb))) ending.abort();
          return result;
        },
      };
      const report = await runner(box, root, { signal: ending.signal })({ sub });
      expect(report).toMatchObject({ outcome: { status: 'failed', code: 'aborted' }, effects: 'unobserved' });
    }
  });

  test.runIf(isDeep)('does not store content that a filter would have changed', async () => {
    const { root } = repository();
    writeFileSync(join(root, '.gitattributes'), '*.bin filter=lfs\n');
    put(root, 'src/x.bin', 'raw');
    expect((await run(root)({ sub: 'add', args: ['.'] })).outcome).toMatchObject({
      status: 'failed',
      code: 'needs-filter',
    });
    expect(git(root, 'diff', '--cached', '--name-only')).toBe('');
    expect(resultOf(await run(root)({ sub: 'add', args: ['.gitattributes'] }))).toMatchObject({
      paths: ['.gitattributes'],
    });
  });
});

test.runIf(isDeep)('bash-git names the submodules in which the session changed files', async () => {
  const { root, remote } = repository();
  git(root, 'submodule', '--quiet', 'add', remote, 'lib/sub');
  git(root, 'commit', '-q', '-m', 'sub');
  put(root, 'lib/sub/src/a.txt', 'inner\n');
  const run = async (sub: string, changed: readonly string[]) => {
    const call = gitCall(root, { sub });
    const shipping = { isOwnChange: () => true, changed, tree: null, message: null, agent: '' };
    return resultOf(await gitBackend(sandbox).run({ ...call, envelope: { ...call.envelope, shipping } }));
  };
  for (const sub of ['status', 'diff', 'add -A', 'commit -m x', 'push'])
    expect(await run(sub, ['src/b.txt', 'lib/sub/src/a.txt', 'lib/sub/src/b.txt']), sub).toMatchObject({
      elsewhere:
        'This session changed files in lib/sub, a repository of its own: they are not shown and do not ship from here. Ask the operator to open a session with the root lib/sub, and commit its changes there.',
    });
  expect(await run('log', ['lib/sub/src/a.txt'])).not.toHaveProperty('elsewhere');
  expect(await run('status', ['lib/x.txt', 'README.md'])).not.toHaveProperty('elsewhere');
});

test('in a scope that may not ship, bash-git stages, commits and pushes nothing, but reads', async () => {
  const { root } = repository();
  put(root, 'src/b.txt', 'b\n');
  const before = git(root, 'rev-parse', 'HEAD');
  const backend = gitBackend(sandbox);
  const run = (sub: string, args: string[]) => {
    const call = gitCall(root, { sub, args });
    const scope = { ...call.envelope.scope, write: ['src/'], command: 'contained' as const };
    return backend.run({ ...call, envelope: { ...call.envelope, peripheral: 'fix', scope } });
  };
  for (const [sub, args] of [
    ['add', ['.']],
    ['commit', ['-a', '-m', 'x']],
    ['push', ['origin', 'main']],
  ] as const)
    expect((await run(sub, [...args])).outcome).toMatchObject({ status: 'refused', code: 'out-of-scope' });
  expect(git(root, 'rev-parse', 'HEAD')).toBe(before);
  expect(git(root, 'diff', '--cached', '--name-only')).toBe('');
  expect(resultOf(await run('status', ['--short']))['stdout']).toContain('src/b.txt');
});
