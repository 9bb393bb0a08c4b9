import { execFileSync } from 'node:child_process';
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { ok, scratch } from './support.ts';

// Time never decides here, and the machine may be busy.
vi.setConfig({ testTimeout: 120_000 });

const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=o', '-c', 'user.email=o@example.com', ...args], {
    cwd,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });

/** A repository with a first commit, an untracked secret, and a remote whose address holds another. */
function repository(...init: string[]): string {
  const base = realpathSync(scratch({}));
  const root = join(base, 'main');
  mkdirSync(join(root, 'src'), { recursive: true });
  git(root, 'init', '-q', '-b', 'main', ...init);
  writeFileSync(join(root, 'src/a.txt'), 'one\n');
  writeFileSync(join(root, '.gitignore'), '.env\n');
  git(root, 'add', '.');
  git(root, 'commit', '-q', '-m', 'first');
  git(root, 'remote', 'add', 'far', 'https://me:S3CRET@example.com/x.git');
  git(root, 'config', 'extensions.worktreeConfig', 'true');
  git(root, 'config', '--worktree', 'http.extraHeader', 'S3CRET');
  return root;
}

function linked(main: string): string {
  const root = join(main, '../linked');
  git(main, 'worktree', 'add', '-q', '-b', 'side', root);
  git(root, 'config', '--worktree', 'http.extraHeader', 'S3CRET');
  return root;
}

const KINDS: readonly (readonly [what: string, make: () => string])[] = [
  ['a plain repository', () => repository()],
  ['a repository with sha256', () => repository('--object-format=sha256')],
  ['a linked work tree', () => linked(repository())],
  ['a linked work tree with sha256', () => linked(repository('--object-format=sha256'))],
];

const READ = 'git status --short && git log --format=%s && git show --stat HEAD >/dev/null && git blame src/a.txt';

describe.each(KINDS)('%s', (_, make) => {
  it.each([
    ['bash-readonly', READ, /^first\n/],
    ['bash', `echo two >> src/a.txt; ${READ} && git diff`, /^ M src\/a\.txt\nfirst\n[\s\S]*\+two\n$/],
  ])('%s: git reads it', async (tool, command, stdout) => {
    const { result } = await ok(make(), tool, { command });
    expect(result).toMatchObject({ exit: 0, stderr: '' });
    expect(result.stdout).toMatch(stdout);
  });

  it('its configuration shows no secret, and cannot be written', async () => {
    const command = `git config --list --show-origin; git remote -v
      for place in $(git rev-parse --git-dir) $(git rev-parse --git-common-dir); do
        find "$place" -name 'config*' -exec cat {} +
        echo x > "$place/config"; echo x > "$place/hooks/pre-commit"; touch "$place/new"
      done; git config user.name evil; true`;
    const root = make();
    const before = git(root, 'config', '--list');
    const { result } = await ok(root, 'bash-readonly', { command });
    expect(`${result.stdout}${result.stderr}`).not.toContain('S3CRET');
    expect(git(root, 'config', '--list')).toBe(before);
    expect(git(root, 'status', '--short')).toBe('');
  });
});

describe('a masked file that git tracks', () => {
  const MASKED = ['.env', 'deep/.env', 'keys/server.pem', 'odd/ "[x]*.pem', 'app/SERVER.PEM', '.npmrc/notes'];

  function tracking(): string {
    const root = repository();
    for (const generation of ['old', 'new'])
      for (const path of [...MASKED, 'src/open.txt']) {
        mkdirSync(join(root, path, '..'), { recursive: true });
        writeFileSync(join(root, path), `SECRET-${generation}\n`.replace(path === 'src/open.txt' ? 'SECRET' : '', ''));
        git(root, 'add', '--force', path);
        git(root, 'commit', '-q', '-m', `${generation} ${path}`);
      }
    return root;
  }

  it.each(['bash-readonly', 'bash'])('%s: git shows nothing of it while it compares', async (tool) => {
    const root = tracking();
    for (const command of [
      'git diff',
      'git diff HEAD~3',
      'git log -p',
      'git show HEAD~2',
      'git grep -h -e SECRET HEAD',
      'git stash show -p HEAD',
    ]) {
      const { result } = await ok(root, tool, { command });
      expect(`${result.stdout}${result.stderr}`, command).not.toContain('SECRET');
    }
    const { result } = await ok(root, tool, {
      command: 'git log -p -- src && git config --global user.name x && cat ~/.gitconfig',
    });
    expect(result).toMatchObject({ exit: 0 });
    expect(result.stdout).toContain('+-new');
  });
});
