import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { builtOnce } from '../../built-once.ts';
import { depth, isDeep, sample } from '../../depth.ts';
import { ok, run, scratch } from './support.ts';

const env = {
  PATH: process.env['PATH'],
  GIT_CONFIG_GLOBAL: process.env['GIT_CONFIG_GLOBAL'],
  GIT_CONFIG_NOSYSTEM: '1',
  LANG: 'C.UTF-8',
};
const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', args, { cwd, encoding: 'utf8', env, stdio: ['ignore', 'pipe', 'pipe'] });

/** Two commits on main, one on side, a changed file; with `.env`, objects are masked and lie in a view. */
const building = (masked: boolean) =>
  builtOnce((folder) => {
    const root = join(folder, 'main');
    mkdirSync(join(root, 'src'), { recursive: true });
    git(root, 'init', '-q', '-b', 'main');
    writeFileSync(join(root, 'src/a.txt'), 'one\n');
    writeFileSync(join(root, 'src/b.txt'), 'b\n');
    git(root, 'add', '.');
    git(root, 'commit', '-q', '-m', 'first');
    git(root, 'switch', '-q', '-c', 'side');
    writeFileSync(join(root, 'src/c.txt'), 'c\n');
    git(root, 'add', '.');
    git(root, 'commit', '-q', '-m', 'on the side');
    git(root, 'switch', '-q', 'main');
    writeFileSync(join(root, 'src/b.txt'), 'b2\n');
    git(root, 'commit', '-qam', 'second');
    if (masked) {
      writeFileSync(join(root, '.env'), 'S3CRET\n');
      git(root, 'add', '-f', '.env');
      git(root, 'commit', '-q', '-m', 'a mistake');
      git(root, 'rm', '-q', '--cached', '.env');
      writeFileSync(join(root, '.git/info/exclude'), '.env\n');
      git(root, 'commit', '-q', '-m', 'mended');
      git(root, 'commit', '-q', '--amend', '-m', 'mended well');
    }
    writeFileSync(join(root, 'src/a.txt'), 'changed\n');
  });
const [copyPlain, copyMasked] = [building(false), building(true)];

function repository(copy = copyPlain): string {
  const base = scratch({});
  copy(base);
  return join(base, 'main');
}

/** The repository as a linked work tree, a submodule or a work tree inside of a bare repository. */
const PLACES: { readonly [what: string]: (main: string) => string } = {
  'a plain repository': (main) => main,
  'a linked work tree': (main) => {
    const root = join(main, '../linked');
    git(main, 'switch', '-q', '--detach');
    return moved(main, root, () => git(main, 'worktree', 'add', '-q', root, 'main'));
  },
  'a submodule': (main) => {
    const over = join(main, '../over');
    mkdirSync(over);
    git(over, 'init', '-q');
    renameSync(main, join(over, 'sub'));
    git(over, '-c', 'advice.addEmbeddedRepo=false', 'submodule', 'add', '-q', './sub', 'sub');
    git(over, 'submodule', 'absorbgitdirs', 'sub');
    return join(over, 'sub');
  },
  'a work tree in a bare repository': (main) => {
    const bare = join(main, '../bare');
    const root = join(bare, 'here');
    return moved(main, root, () => {
      renameSync(join(main, '.git'), bare);
      git(bare, 'config', 'core.bare', 'true');
      git(bare, 'worktree', 'add', '-q', root, 'main');
    });
  },
};

/** Checks out elsewhere, with the changed and the untracked files. */
function moved(main: string, root: string, checkOut: () => void): string {
  checkOut();
  for (const path of ['src/a.txt', '.env'])
    if (existsSync(join(main, path))) cpSync(join(main, path), join(root, path));
  return root;
}

const files = (root: string): { readonly [path: string]: string } =>
  Object.fromEntries(
    globSync('src/**', { cwd: root })
      .filter((path) => statSync(join(root, path)).isFile())
      .sort()
      .map((path) => [path, readFileSync(join(root, path), 'utf8')]),
  );

/** The folder with the repository's refs and objects. */
const gitFolder = (root: string): string => resolve(root, git(root, 'rev-parse', '--git-common-dir').trim());

/** All that git reads of the repository, except its objects. */
function stateOf(root: string): string {
  const folder = gitFolder(root);
  const files =
    '{HEAD,index,packed-refs,refs/**,logs/**,config*,hooks/**,info/**,modules/**,worktrees/**,objects/info/**,*_HEAD,rebase*}';
  return globSync(files, { cwd: folder })
    .map((path) => {
      const file = join(folder, path);
      return statSync(file).isFile() ? `${path} ${readFileSync(file, 'hex')}` : path;
    })
    .join('\n');
}

const [plain, ...elsewhere] = Object.entries(PLACES);
const MASKED = 'with masked objects';
/** The deep run tries all cases in the first place, and one of each `step` in the others. */
const KINDS = [
  { what: plain![0], make: () => repository(), step: depth(48, 1) },
  { what: `${plain![0]} ${MASKED}`, make: () => repository(copyMasked), step: 6 },
  ...elsewhere.flatMap(([what, place]) => [
    { what, make: () => place(repository()), step: 8 },
    { what: `${what} ${MASKED}`, make: () => place(repository(copyMasked)), step: 16 },
  ]),
];

describe.each(sample(KINDS, KINDS.length))('git in $what', ({ make, step }) => {
  const some = <T>(cases: readonly T[]): readonly T[] => cases.filter((_, at) => at % step === 0);

  it.each(
    some([
      'git status --short; git diff --stat; git log --format=%s -1; git branch --show-current',
      'git restore src/a.txt',
      'git checkout -- src/a.txt && git status --short',
      'git checkout side -- src/c.txt',
      'git restore --source=side src/c.txt',
      'git mv src/b.txt src/d.txt && git status --short',
      'git rm -q src/b.txt && git status --short',
      'git add -A && git diff --cached --stat && git reset -q && git status --short',
      'git stash -q && cat src/a.txt && git stash pop -q && cat src/a.txt',
      'git stash push -q src/a.txt; git stash list | wc -l; git stash drop -q; cat src/a.txt',
      'git cherry-pick --no-commit side && git diff --cached --name-only',
      'git merge -q --squash side 2>&1 && git status --short',
      'git diff > /tmp/p && git checkout -q -- . && git apply /tmp/p && git status --short',
      'git grep -n two || git blame -s src/b.txt | cut -d")" -f2',
      'git switch -q side 2>&1 && cat src/c.txt && git switch -q main',
      'git clean -fdq && git ls-files && git rev-parse --abbrev-ref HEAD',
      'git bisect start HEAD HEAD~1 >/dev/null && git bisect reset 2>&1 | tail -1',
    ]),
  )('works as outside: %s', async (command) => {
    const [inside, outside] = [make(), make()];
    const native = spawnSync('bash', ['--norc', '-c', command], { cwd: outside, env, encoding: 'utf8' });
    const before = stateOf(inside);
    const { result } = await ok(inside, 'bash', { command });
    expect([result.exit, result.stdout, result.stderr]).toEqual([native.status, native.stdout, native.stderr]);
    expect(files(inside)).toEqual(files(outside));
    expect(result.dropped).toEqual([]);
    expect(stateOf(inside)).toBe(before);
  });

  it.each(
    some([
      ['git commit -qam mine', 'the commits on main'],
      ['git commit -qa --amend -m mine', 'the amended commit (only the operator rewrites commits) on main'],
      ['git branch topic', 'the branch topic'],
      ['git switch -q -c topic', 'the branch topic, the switch to topic'],
      ['git branch -D side', 'the deletion of the branch side'],
      ['git pack-refs --all && git tag v1', 'the tag v1'],
      ['git config core.hooksPath src', 'the changed configuration', 'git. Only the operator changes'],
    ]),
  )('fails, names what would be lost, and keeps changed files: %s', async (command, lost, way = 'bash-git') => {
    const root = make();
    const before = stateOf(root);
    const report = await run(root, 'bash', { command: `echo kept > src/a.txt; ${command}` });
    expect(report.outcome).toMatchObject({ status: 'failed', code: 'git-not-kept' });
    expect(report.outcome).toHaveProperty('message', expect.stringContaining(`not ${lost}`));
    expect(report.outcome).toHaveProperty('message', expect.stringContaining(way));
    expect(readFileSync(join(root, 'src/a.txt'), 'utf8')).toBe('kept\n');
    expect(stateOf(root)).toBe(before);
  });

  it.each(
    some([
      ['git stash', /in a stash, .*git stash pop/],
      ['git stash -q && git switch -q side', /stash/],
      ['git checkout -q side', /HEAD from main to side .*git restore --source=BRANCH/],
      ['git checkout -q --detach side', /HEAD from main to [0-9a-f]{10}/],
      ['git reset -q --hard HEAD~1', /moved main to .*operator rebases/],
      ['git merge -q side -m m', /moved main to .*git merge --squash/],
      ['git cherry-pick side', /moved main to .*git cherry-pick --no-commit/],
      ['git revert --no-edit HEAD', /moved main to .*git revert --no-commit/],
      ['git checkout -q src && git rebase -q side', /moved main to|a rebase/],
      [
        'git checkout -q src && echo x > src/c.txt && git add . && git commit -qm c && git merge side',
        /moved|a merge under way/,
      ],
    ]),
  )('fails without changing a file: %s', async (command, message) => {
    const root = make();
    const before = [stateOf(root), files(root)];
    const report = await run(root, 'bash', { command: `echo lost > src/n.txt; ${command}` });
    expect(report).toMatchObject({ outcome: { status: 'failed', code: 'git-not-kept' }, effects: [] });
    expect(report.outcome).toHaveProperty('message', expect.stringMatching(message));
    expect([stateOf(root), files(root)]).toEqual(before);
  });

  it.runIf(isDeep)('reports that a staged change is discarded, and no message for a refreshed index', async () => {
    const root = make();
    const { result } = await ok(root, 'bash', { command: 'git add src/a.txt' });
    expect(result.git).toMatch(/^What was staged is not kept/);
    const again = await ok(root, 'bash', { command: 'touch src/b.txt; git update-index --refresh -q; git status -s' });
    expect(again.result).not.toHaveProperty('git');
  });

  it.each(
    some([
      [
        'hooks, settings, attributes, refs and objects',
        `echo "touch /tmp/ran" > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit
      mv .git/hooks .git/h; mkdir .git/hooks; echo x > .git/hooks/post-checkout; rm -rf .git/hooks; ln -s ../src .git/hooks
      mkdir -p .git/info; echo "* filter=x" > .git/info/attributes; git config filter.x.clean "touch ran"
      git config core.fsmonitor ./src/run; git config include.path ../src/evil; git config --worktree core.pager x
      mkdir -p .git/objects/info; echo /tmp > .git/objects/info/alternates
      git update-ref refs/heads/evil HEAD; git symbolic-ref HEAD refs/heads/evil; git pack-refs --all
      git replace HEAD HEAD~1; git notes add -m x; git update-ref refs/remotes/origin/main HEAD
      git rev-parse HEAD > .git/shallow; cp .git/shallow .git/info/grafts
      git update-index --add --cacheinfo 120000,$(echo x | git hash-object -w --stdin),src/l
      mkdir .git/rebase-merge; echo "exec touch ran" > .git/rebase-merge/git-rebase-todo
      touch .git/index.lock .git/HEAD.lock .git/config.lock .git/refs/heads/main.lock
      mkfifo .git/fsmonitor--daemon.ipc .git/hooks/p .git/COMMIT_EDITMSG`,
      ],
      [
        'work trees, submodules and other repositories',
        `git worktree add -q src/wt side; echo x > .git/worktrees/wt/config.worktree
      git init -q src/sub; git -C src/sub commit -q --allow-empty -m x; git submodule add ./src/sub src/m
      mkdir -p .git/modules/m/hooks; echo x > .git/modules/m/config; cp -r .git src/copy
      echo ../src > .git/commondir; echo /tmp > .git/gitdir`,
      ],
      ['a new repository', 'rm -rf .git; mv .git .old; git init -q; echo x > .git/hooks/post-checkout'],
      ['a file in place of it', 'mv .git src/moved; echo "gitdir: src/moved" > .git'],
      ['a link in place of it', 'cp -r .git src/copy; rm -rf .git; ln -s src/copy .git'],
    ]),
  )('does not change the repository by %s', async (_name, command) => {
    const root = make();
    const before = stateOf(root);
    const { outcome } = await run(root, 'bash', { command: `${command}; true` });
    expect(['ok', 'failed']).toContain(outcome.status);
    expect(stateOf(root)).toBe(before);
    expect(globSync('.git/{**/*.lock,shallow,h,commondir,gitdir,*.ipc}', { cwd: root })).toEqual([]);
    expect(globSync('src/**/{HEAD,.git}', { cwd: root })).toEqual([]);
    expect(existsSync(join(root, '.gitmodules'))).toBe(false);
    expect(git(root, 'fsck', '--connectivity-only')).toBe('');
  });
});

it('the git objects of masked files stay hidden from a git that writes', async () => {
  const root = repository(copyMasked);
  const command = `git add -A; git commit -qam x; git gc -q --prune=now; git repack -adq; git unpack-objects -q < /dev/null
    for o in $(git rev-list --objects --all --reflog | cut -d" " -f1); do git cat-file -p $o; done
    git show HEAD~1:.env; git log -p --all --reflog -- .env; mv .git/objects .git/o2; mv .git .git2
    find / -xdev -path '*objects*' -type f -exec cat {} + 2>/dev/null | grep -a S3CRET; cat .git*/config`;
  const { outcome } = await run(root, 'bash', { command });
  const shown = JSON.stringify(outcome);
  expect(shown).toContain('mended well');
  expect(shown).not.toContain('S3CRET');
});

it.runIf(isDeep)('a tracked masked file counts as unchanged', async () => {
  const root = repository();
  mkdirSync(join(root, 'test/fixtures'), { recursive: true });
  for (const path of ['test/fixtures/key.pem', '.env']) writeFileSync(join(root, path), 'S3CRET\n');
  git(root, 'add', '-f', '.');
  git(root, 'commit', '-q', '-m', 'keys');
  writeFileSync(join(root, 'src/a.txt'), 'again\n');
  const command =
    'git status --short; git add -A; git status --short; git stash -q; git stash pop -q; cat src/a.txt; git fsck 2>&1 | grep index';
  const { result } = await ok(root, 'bash', { command });
  expect(result).toMatchObject({ stdout: ' M src/a.txt\nM  src/a.txt\nagain\n', stderr: '', dropped: [] });
  for (const tool of ['bash-readonly', 'bash'])
    expect((await ok(root, tool, { command: 'git status --short' })).result).toMatchObject({
      stdout: ' M src/a.txt\n',
    });
  expect(git(root, 'ls-files', '-v')).not.toMatch(/^[a-z]/m);
});

it.runIf(isDeep)('git reports the same as outside for a clean tree with a submodule and masked files', async () => {
  const [root, other] = [repository(), repository()];
  for (const each of [other, root]) {
    writeFileSync(join(each, '.env'), 'S3CRET\n');
    git(each, 'add', '-f', '.');
    git(each, 'commit', '-q', '-m', 'keys');
  }
  git(root, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', other, 'lib/sub');
  git(root, 'commit', '-q', '-m', 'sub');
  const linked = join(root, '../linked');
  git(root, 'worktree', 'add', '-q', linked, '-b', 'other');
  const asked =
    'git status --short; git stash; git submodule status; git -C lib/sub status --short 2>/dev/null; git diff-files; git diff';
  for (const version of ['2', '4'])
    for (const place of [root, linked]) {
      git(place, 'update-index', '--index-version', version);
      const outside = execFileSync('bash', ['--norc', '-c', asked], { cwd: place, encoding: 'utf8', env });
      expect(outside).toContain('No local changes to save');
      for (const tool of ['bash-readonly', 'bash'])
        expect((await ok(place, tool, { command: asked })).result, `${tool} ${version}`).toMatchObject({
          exit: 0,
          stdout: outside,
        });
    }
});

describe('git in a submodule of the root', () => {
  const withSubmodule = () => {
    const [root, other] = [repository(), repository(copyMasked)];
    git(other, 'checkout', '-q', 'src/a.txt');
    git(root, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', other, 'src/sub');
    git(root, 'commit', '-q', '-m', 'sub');
    return { root, sub: join(root, 'src/sub') };
  };
  const state = (sub: string) => git(sub, 'log', '--oneline', '--all') + git(sub, 'ls-files', '-s');

  it.runIf(isDeep)('undoes, renames and stashes, and keeps only the files', async () => {
    const { root, sub } = withSubmodule();
    const before = state(sub);
    const { result } = await ok(root, 'bash', {
      command:
        'cd src/sub && echo x > src/src_a && echo x > src/b.txt && git checkout -q -- src/b.txt && git mv src/src_a src/d.txt 2>/dev/null; git stash -q -u && git stash pop -q && git mv src/b.txt src/e.txt && git status --short',
    });
    expect(result).toMatchObject({ exit: 0, stdout: expect.stringContaining('R  src/b.txt -> src/e.txt') });
    expect(existsSync(join(sub, 'src/e.txt'))).toBe(true);
    expect(state(sub)).toBe(before);
  });

  it.runIf(isDeep).each([
    ['cd src/sub && echo x > src/b.txt && git stash', /it left changes in a stash/],
    ['cd src/sub && echo x > src/b.txt && git commit -qam x', /the commits on \S+ of the submodule src\/sub/],
  ])('warns that the result is not kept after: %s', async (command, message) => {
    const { root, sub } = withSubmodule();
    const before = state(sub);
    const { outcome } = await run(root, 'bash', { command });
    expect(outcome).toMatchObject({ code: 'git-not-kept', message: expect.stringMatching(message) });
    expect(state(sub)).toBe(before);
  });

  it.runIf(isDeep)('shows no masked object, and writes no hook', async () => {
    const { root } = withSubmodule();
    const command = `cd src/sub; git log -p --all --reflog -- .env; git add -A; git commit -qam x; git repack -adq
      for o in $(git rev-list --objects --all --reflog | cut -d" " -f1); do git cat-file -p $o; done; find / -xdev -path '*objects*' -type f -exec cat {} + 2>/dev/null
      echo x > ../../.git/modules/src/sub/hooks/pre-commit && echo written`;
    const { outcome } = await run(root, 'bash', { command });
    expect(JSON.stringify(outcome)).not.toMatch(/S3CRET|written/);
  });
});

it.runIf(isDeep)('git in explore keeps nothing, and says so', async () => {
  const root = repository();
  const before = git(root, 'log', '--oneline', '--all');
  const status = git(root, 'status', '--short');
  for (const [command, why] of [
    ['echo x > src/a.txt && git commit -qam x', /^Not kept: the commits on main/],
    ['echo x > src/a.txt && git stash', /it left changes in a stash/],
    ['git branch new', /^Not kept: the branch new/],
  ] as const)
    expect((await run(root, 'bash-readonly', { command })).outcome, command).toMatchObject({
      status: 'failed',
      code: 'git-not-kept',
      message: expect.stringMatching(why),
    });
  const staged = (
    await ok(root, 'bash-readonly', { command: 'echo x > src/a.txt; git add -A; git stash; git stash pop' })
  ).result;
  expect(staged.warning).toContain('src/a.txt');
  expect([git(root, 'log', '--oneline', '--all'), git(root, 'status', '--short')]).toEqual([before, status]);
});

it.runIf(isDeep)('git in a test’s own repository commits with the operator’s name', async () => {
  const root = repository();
  const command = 'cd /tmp && git init -q t && cd t && git commit -q --allow-empty -m x && git log --format="%an %ae"';
  const { result } = await ok(root, 'bash-readonly', { command });
  expect(result).toMatchObject({ exit: 0, stdout: 'Operator operator@example.com\n' });
});

it.runIf(isDeep)(
  'git in a test’s own repository takes no name from an outside file that the repository’s configuration includes',
  async () => {
    const root = repository();
    writeFileSync(join(root, '../private'), '[user]\n\tname = S3CRET\n');
    git(root, 'config', 'include.path', join(root, '../private'));
    const command = 'git config --list; cd /tmp && git init -q t && cd t && git config user.name';
    const { result } = await ok(root, 'bash-readonly', { command });
    expect(result).toMatchObject({ exit: 0, stdout: expect.stringMatching(/\nOperator\n$/) });
    expect(result).not.toMatchObject({ stdout: expect.stringContaining('S3CRET') });
  },
);
