import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { builtOnce } from '../../built-once.ts';
import { isDeep, sample } from '../../depth.ts';
import { ok, run, scratch } from './support.ts';

const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=o', '-c', 'user.email=o@example.com', ...args], {
    cwd,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });

const building = (...init: string[]) =>
  builtOnce((folder) => {
    const root = join(folder, 'main');
    mkdirSync(join(root, 'src'), { recursive: true });
    git(root, 'init', '-q', '-b', 'main', ...init);
    writeFileSync(join(root, 'src/a.txt'), 'one\n');
    writeFileSync(join(root, '.gitignore'), '.env\n');
    git(root, 'add', '.');
    git(root, 'commit', '-q', '-m', 'first');
    git(root, 'remote', 'add', 'far', 'https://me:S3CRET@example.com/x.git');
    git(root, 'config', 'extensions.worktreeConfig', 'true');
    git(root, 'config', '--worktree', 'http.extraHeader', 'S3CRET');
  });
const [copySha1, copySha256] = [building(), building('--object-format=sha256')];

/** A repository with a first commit, an untracked secret, and a remote whose address holds another. */
function repository(copy = copySha1): string {
  const base = scratch({});
  copy(base);
  return join(base, 'main');
}

function linked(main: string): string {
  const root = join(main, '../linked');
  git(main, 'worktree', 'add', '-q', '-b', 'side', root);
  git(root, 'config', '--worktree', 'http.extraHeader', 'S3CRET');
  return root;
}

const KINDS: readonly (readonly [what: string, make: () => string])[] = [
  ['a plain repository', () => repository()],
  ['a repository with sha256', () => repository(copySha256)],
  ['a linked work tree', () => linked(repository())],
  ['a linked work tree with sha256', () => linked(repository(copySha256))],
];

const READ = 'git status --short && git log --format=%s && git show --stat HEAD >/dev/null && git blame src/a.txt';

describe.each(sample(KINDS, 4))('git in the shell, in %s', (_, make) => {
  const READING = [
    ['bash-readonly', READ, /^first\n/],
    ['bash', `echo two >> src/a.txt; ${READ} && git diff`, /^ M src\/a\.txt\nfirst\n[\s\S]*\+two\n$/],
  ] as const;
  it.each(sample(READING, 2))('reads the repository: %s', async (tool, command, stdout) => {
    const { result } = await ok(make(), tool, { command });
    expect(result).toMatchObject({ exit: 0, stderr: '' });
    expect(result.stdout).toMatch(stdout);
  });

  it('sees no secret of the configuration and cannot change it', async () => {
    const command = `git config --list --show-origin; git remote -v
      for place in $(git rev-parse --git-dir) $(git rev-parse --git-common-dir); do
        find "$place" -name 'config*' -exec cat {} +
        echo x > "$place/config"; echo x > "$place/hooks/pre-commit"; touch "$place/new"
      done; git config user.name evil; true`;
    const root = make();
    const before = git(root, 'config', '--list');
    const { outcome } = await run(root, 'bash-readonly', { command });
    expect(outcome).toMatchObject({ status: 'failed', code: 'git-not-kept' });
    expect(JSON.stringify(outcome)).not.toContain('S3CRET');
    expect(git(root, 'config', '--list')).toBe(before);
    expect(git(root, 'status', '--short')).toBe('');
  });
});

describe('a masked file that git tracks', () => {
  const MASKED = ['.env', 'deep/.env', 'keys/server.pem', 'odd/ "[x]*.pem', 'app/SERVER.PEM', '.npmrc/notes'];

  const copyTracking = builtOnce((folder) => {
    copySha1(folder);
    const root = join(folder, 'main');
    for (const generation of ['old', 'new'])
      for (const path of [...MASKED, 'src/open.txt']) {
        mkdirSync(join(root, path, '..'), { recursive: true });
        writeFileSync(join(root, path), `SECRET-${generation}\n`.replace(path === 'src/open.txt' ? 'SECRET' : '', ''));
        git(root, 'add', '--force', path);
        git(root, 'commit', '-q', '-m', `${generation} ${path}`);
      }
  });
  const tracking = (): string => repository(copyTracking);

  const ALL = `find . -name HEAD -not -path '*/logs/*' | while read -r head; do
      git --git-dir="$(dirname "$head")" cat-file --batch-all-objects --batch --unordered
    done; git cat-file --batch-all-objects --batch --unordered; cat .git/rr-cache/*/* .git/objects/pack/tmp* .git/COMMIT_EDITMSG; ls .git/objects/*/tmp*
    grep -ra SECRET .git; for name in blob tree; do git show $name; done
    shopt -s nullglob; python3 -c 'import sys,re,zlib
for path in sys.argv[1:]:
  for at in re.finditer(b"x", data := open(path, "rb").read()):
    try: print(zlib.decompressobj().decompress(data[at.start():]))
    except zlib.error: pass' borrowed/*/* packs/*`;
  /**
   * In a loose object and a pack, in the index alone, in a stash, in an amended commit, reset, dropped, fetched, in
   * repositories in the tree.
   */
  const STATES: { readonly [what: string]: (root: string) => void } = {
    'in commits': () => {},
    packed: (root) => void git(root, 'gc', '-q'),
    'packed, then committed again': (root) => {
      git(root, 'gc', '-q');
      writeFileSync(join(root, '.env'), 'SECRET-loose\n');
      git(root, 'commit', '-q', '-am', 'loose');
    },
    'in more packs than can be mounted': (root) => {
      const pack = 'git -c fastimport.unpackLimit=0 fast-import --quiet';
      const commit = [
        'commit refs/heads/main\\ncommitter o <o@example.com> 0 +0000\\ndata 0',
        'from refs/heads/main^0\\nM 644 inline src/more.txt\\ndata <<X\\n%s\\nX\\n',
      ].join('\\n');
      execFileSync('sh', ['-c', `for i in $(seq 45); do printf '${commit}' $i | ${pack} || exit 1; done`], {
        cwd: root,
      });
      git(root, 'reset', '-q', '--hard');
    },
    'packed under names': (root) => {
      git(root, 'gc', '-q');
      git(root, 'pack-refs', '--all');
      git(root, 'tag', '-a', '-m', 'tagged', 'v1');
    },
    staged: (root) => {
      writeFileSync(join(root, '.env'), 'SECRET-staged\n');
      git(root, 'add', '-f', '.env');
    },
    'staged and taken back': (root) => {
      writeFileSync(join(root, 'new.pem'), 'SECRET-dropped\n');
      git(root, 'add', '-f', 'new.pem');
      git(root, 'rm', '-q', '--cached', '-f', 'new.pem');
    },
    stashed: (root) => {
      writeFileSync(join(root, '.env'), 'SECRET-stash\n');
      git(root, 'stash', '-q');
    },
    'stashed and dropped': (root) => {
      writeFileSync(join(root, '.env'), 'SECRET-stash\n');
      git(root, 'stash', '-q');
      git(root, 'stash', 'drop', '-q');
    },
    'amended and forgotten': (root) => {
      git(root, 'rm', '-q', '-r', '--cached', ...MASKED);
      git(root, 'commit', '-q', '--amend', '-m', 'without');
      git(root, 'reflog', 'expire', '--expire=now', '--all');
    },
    'in a cruft pack': (root) => {
      git(root, 'reset', '-q', '--hard', 'HEAD~3');
      git(root, 'reflog', 'expire', '--expire=now', '--all');
      git(root, 'repack', '-q', '-d', '--cruft');
    },
    'in fetched commits': (root) => {
      git(root, 'clone', '-q', '.', '../other');
      writeFileSync(join(root, '../other/.env'), 'SECRET-other\n');
      git(join(root, '../other'), 'commit', '-q', '-am', 'other');
      git(root, 'fetch', '-q', '../other');
    },
    'in a bare repository in the tree': (root) => void git(root, 'clone', '-q', '--bare', '.', 'remote.git'),
    'in a repository in the tree': (root) => void git(root, 'clone', '-q', '.', 'vendor/inner'),
    'in a submodule': (root) => {
      git(root, 'clone', '-q', '--bare', '.', '../sub.git');
      git(root, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', '../sub.git', 'sub');
    },
    'in the recorded resolution of a conflict': (root) => {
      mkdirSync(join(root, '.git/rr-cache/rr-1'), { recursive: true });
      writeFileSync(join(root, '.git/rr-cache/rr-1/one'), 'SECRET\n');
    },
    'in the draft of a commit message': (root) => writeFileSync(join(root, '.git/COMMIT_EDITMSG'), 'x\n+SECRET\n'),
    'under a tag of the blob': (root) => {
      git(root, 'tag', 'blob', 'HEAD:.env');
      git(root, 'update-ref', 'refs/replace/'.concat(git(root, 'rev-parse', 'HEAD').trim()), 'HEAD~1');
    },
    'under a tag of the blob, and at no path': (root) => {
      writeFileSync(join(root, 'other'), 'SECRET-other\n');
      git(root, 'tag', 'blob', git(root, 'hash-object', '-w', 'other').trim());
      rmSync(join(root, 'other'));
    },
    'in a folder under a tag': (root) => void git(root, 'tag', 'tree', 'HEAD~1:.npmrc'),
    'in a path with a newline': (root) => {
      for (const path of ['two\nlines/.env', 'two\nlines.pem']) {
        mkdirSync(join(root, path, '..'), { recursive: true });
        writeFileSync(join(root, path), `SECRET-${path}\n`);
        git(root, 'add', '--force', path);
        git(root, 'commit', '-q', '-m', 'odd');
      }
      git(root, 'rm', '-q', 'two\nlines.pem');
    },
    'in objects that lie elsewhere': (root) => {
      renameSync(join(root, '.git/objects'), join(root, 'borrowed'));
      mkdirSync(join(root, '.git/objects/info'), { recursive: true });
      writeFileSync(join(root, '.git/objects/info/alternates'), '../../borrowed\n');
    },
    'in packs that a link leads to': (root) => {
      git(root, 'gc', '-q');
      renameSync(join(root, '.git/objects/pack'), join(root, 'packs'));
      symlinkSync('../../packs', join(root, '.git/objects/pack'));
    },
    'in the large files of git': (root) => {
      for (const path of ['.git/lfs/tmp/x', '.git/annex/tmp/x']) {
        mkdirSync(join(root, path, '..'), { recursive: true });
        writeFileSync(join(root, path), 'SECRET');
      }
    },
    'in a rebase of another work tree': (root) => {
      git(root, 'worktree', 'add', '-q', '-b', 'side', '../linked');
      for (const path of ['rebase-apply/0001', 'rebase-merge/patch', 'COMMIT_EDITMSG']) {
        mkdirSync(join(root, '.git/worktrees/linked', path, '..'), { recursive: true });
        writeFileSync(join(root, '.git/worktrees/linked', path), 'SECRET');
      }
    },
    'in a repository with a broken ref': (root) =>
      writeFileSync(join(root, '.git/refs/heads/gone'), `${'1'.repeat(40)}\n`),
    'half written': (root) => {
      const name = git(root, 'rev-parse', 'HEAD:.env').trim();
      const object = join(root, '.git/objects', name.slice(0, 2), name.slice(2));
      writeFileSync(join(root, '.git/objects/pack/tmp_pack_x'), 'SECRET');
      renameSync(object, join(root, '.git/objects', name.slice(0, 2), 'tmp_obj_x'));
      git(root, 'rm', '-q', '--cached', '.env');
    },
  };

  it.each(sample(Object.entries(STATES), 30))('is empty wherever git has its content: %s', async (_, change) => {
    const root = tracking();
    change(root);
    const here = git(root, 'rev-parse', 'HEAD:src/open.txt');
    for (const tool of sample(['bash-readonly', 'bash'], 2)) {
      const { result } = await ok(root, tool, {
        command: `(git cat-file -p HEAD:src/open.txt && git log -p -- src) >/tmp/open 2>/tmp/said; echo "exit $?"; cat /tmp/said /tmp/open; echo; echo END
          git show HEAD:.env HEAD~1:deep/.env; git cat-file -p :.env; git stash show -p; ${ALL}; git fsck --lost-found; git log -p --all --reflog`,
      });
      expect(`${result.stdout}${result.stderr}`, tool).not.toMatch(/SECRET|tmp_obj_x/);
      const [open, all] = result.stdout.split('\nEND\n', 2);
      expect(open).toMatch(/^exit 0\n-(?:new|old)\ncommit [\s\S]*\+-?(?:new|old)/);
      expect(all).toContain(here.trim());
    }
  });

  const SUBMODULES: { readonly [what: string]: readonly [mask: string, make: (sub: string) => string] } = {
    'one that is called as a folder of git is': [
      '.env',
      (sub) => {
        const root = repository();
        git(root, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', sub, 'hooks');
        git(root, 'config', '-f', '.git/modules/hooks/config', 'remote.origin.url', 'https://me:SECRET@example.com/');
        return root;
      },
    ],
    'one that was moved': [
      'vendor/.env',
      (sub) => {
        const root = repository();
        git(root, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', sub, 'before');
        git(root, 'mv', 'before', 'vendor');
        return root;
      },
    ],
    'one of the repository that a linked work tree belongs to': [
      '.env',
      (sub) => {
        const root = repository();
        git(root, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', sub, 'lib');
        return linked(root);
      },
    ],
    'none, but a linked work tree in the tree': [
      'inner/.env',
      (sub) => {
        git(sub, 'worktree', 'add', '-q', '-b', 'side', 'inner');
        git(sub, 'rm', '-q', '.env');
        git(sub, 'commit', '-q', '-m', 'without');
        return sub;
      },
    ],
  };

  it.runIf(isDeep).each(Object.entries(SUBMODULES))('is empty in a submodule (%s)', async (_, [mask, make]) => {
    const root = make(tracking());
    const { result } = await ok(
      root,
      'bash-readonly',
      {
        command: `for config in $(find .git* ../main/.git -name config); do cat $config
          git --git-dir=$(dirname $config) cat-file --batch-all-objects --batch --unordered | grep -a -e SECRET -e '^-new'; done`,
      },
      { config: { mask: [mask, ...MASKED.slice(1)] } },
    );
    expect(`${result.stdout}${result.stderr}`).not.toContain('SECRET');
    expect(result.stdout).toContain('-new');
  });

  it.runIf(isDeep)('is empty for a configured test command', async () => {
    const root = tracking();
    const { result } = await ok(
      root,
      'bash-test',
      {},
      { config: { test: [{ run: ['git', 'show', 'HEAD:.env', 'HEAD:src/open.txt'], report: 'none' }] } },
    );
    expect(`${result.stdout}${result.stderr}`).not.toContain('SECRET');
  });

  it.runIf(isDeep)('is empty also in commits and packs that were made meanwhile', async () => {
    const root = tracking();
    git(root, 'gc', '-q');
    const last = async () => (await ok(root, 'bash-readonly', { command: 'git log -p -1; git show HEAD:.env' })).result;
    expect((await last()).stdout).toContain('new src/open.txt');
    for (const text of ['second', 'third']) {
      writeFileSync(join(root, 'src/open.txt'), `${text}\n`);
      writeFileSync(join(root, '.env'), `SECRET-${text}\n`);
      git(root, 'commit', '-q', '-am', `${text} one`);
      const { stdout, exit } = await last();
      expect(exit).toBe(0);
      expect(stdout).toContain(`+${text}`);
      expect(stdout).not.toContain('SECRET');
    }
  });

  it.runIf(isDeep)('is shown by git if the index has the same content at an open path', async () => {
    const root = repository();
    for (const name of ['.env', 'example.txt']) writeFileSync(join(root, name), 'KEY=\n');
    git(root, 'add', '-f', '.env', 'example.txt');
    git(root, 'commit', '-q', '-m', 'both');
    const { result } = await ok(root, 'bash-readonly', { command: 'git show HEAD:example.txt' });
    expect(result).toMatchObject({ exit: 0, stdout: 'KEY=\n' });
  });

  it.runIf(isDeep)(
    'stays hidden in an unreadable repository, whose objects are not shown, and the result says so',
    async () => {
      const root = tracking();
      const tree = git(root, 'rev-parse', 'HEAD^{tree}').trim();
      const file = join(root, '.git/objects', tree.slice(0, 2), tree.slice(2));
      chmodSync(file, 0o644);
      writeFileSync(file, 'broken');
      const { result } = await ok(root, 'bash-readonly', { command: 'git show HEAD~1:.env; cat src/open.txt' });
      expect(`${result.stdout}${result.stderr}`).not.toContain('SECRET');
      expect(result.stdout).toBe('-new\n');
      expect(result.withoutObjects).toEqual(['.git']);
      expect(result.objectProblems).toEqual([expect.stringContaining(tree)]);
    },
  );

  it.runIf(isDeep).each(['bash-readonly', 'bash'])('is empty for a comparison by git: %s', async (tool) => {
    const root = tracking();
    const compared = await ok(root, tool, {
      command:
        'git diff; git diff HEAD~3; git log -p; git show HEAD~2; git grep -h -e SECRET HEAD; git stash show -p HEAD; echo END',
    });
    expect(compared.result.stdout).toMatch(/\nEND\n$/);
    expect(`${compared.result.stdout}${compared.result.stderr}`).not.toContain('SECRET');
    const { result } = await ok(root, tool, {
      command: 'git log -p -- src && git config --global user.name x && cat ~/.gitconfig',
    });
    expect(result).toMatchObject({ exit: 0 });
    expect(result.stdout).toContain('+-new');
  });
});
