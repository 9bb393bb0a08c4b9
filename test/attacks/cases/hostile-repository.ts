import fs from 'node:fs';
import { join } from 'node:path';
import { isDeep } from '../../depth.ts';
import { git, type World } from '../attacked-machine.ts';
import { type Case, rows } from '../case.ts';

const look = rows('explore', 'bash-readonly');
const work = rows('edit', 'bash');
const ship = rows('deploy', 'bash-git');

const write = (path: string, text: string) => {
  fs.mkdirSync(join(path, '..'), { recursive: true });
  fs.writeFileSync(path, text);
};
const linkTo = (path: string, to: string) => {
  fs.rmSync(path, { recursive: true, force: true });
  fs.symlinkSync(to, path);
};

/**
 * The root's git folder is replaced by a copy that `change` makes hostile; a foreign repository lies next to the root.
 */
const hostile = (change: (dotGit: string, other: string, world: World) => void) => ({
  before: (world: World) => {
    const [dotGit, kept, other] = [join(world.root, '.git'), join(world.folder, 'kept'), join(world.outside, 'other')];
    fs.mkdirSync(other, { recursive: true });
    git(other, 'init', '-q', '-b', 'main');
    write(join(other, 'private.txt'), `${world.secrets[0]}\n`);
    git(other, 'add', '.');
    git(other, 'commit', '-q', '-m', `about ${world.secrets[0]}`);
    fs.renameSync(dotGit, kept);
    fs.cpSync(kept, dotGit, { recursive: true });
    // A masked file, so that git's objects are searched.
    git(world.root, 'update-ref', 'refs/heads/masked', commitOf(world.root, '.env', 'masked\n'));
    change(dotGit, join(other, '.git'), world);
  },
  after: ({ root, folder, outside }: World) => {
    fs.rmSync(join(root, '.git'), { recursive: true });
    fs.renameSync(join(folder, 'kept'), join(root, '.git'));
    fs.rmSync(join(root, 'store'), { recursive: true, force: true });
    fs.rmSync(join(root, 'src/inner'), { recursive: true, force: true });
    fs.rmSync(join(outside, 'other'), { recursive: true });
  },
});

/** A commit that contains one file, which need not exist in the work tree. */
function commitOf(repository: string, path: string, text: string, name?: string): string {
  const file = `${repository}-moment`;
  write(file, text);
  const blob = name ?? git(repository, 'hash-object', '-w', file);
  fs.rmSync(file);
  git(repository, 'update-index', '--add', '--cacheinfo', `100644,${blob},${path}`);
  const tree = git(repository, 'write-tree', '--missing-ok');
  git(repository, '--work-tree=.', 'update-index', '--force-remove', path);
  return git(repository, 'commit-tree', tree, '-m', 'made');
}

/** The file that replaces the root's `.git`. */
const gitFile = (dotGit: string, to: string) => {
  fs.rmSync(dotGit, { recursive: true });
  fs.writeFileSync(dotGit, `gitdir: ${to}\n`);
};

const MISSING = '1234567812345678123456781234567812345678';

const HOSTILE: { readonly [name: string]: (dotGit: string, other: string, world: World) => void } = {
  'a commondir in .git': (dotGit) => {
    write(join(dotGit, 'commondir'), '../../outside/other/.git\n');
    // The staged content lies in objects that the other repository does not have.
    fs.rmSync(join(dotGit, 'index'));
  },
  'a commondir in .git that is a link': (dotGit, other) => {
    write(join(other, '../../line'), '../../outside/other/.git\n');
    linkTo(join(dotGit, 'commondir'), '../../outside/line');
  },
  'a file .git that names another repository': (dotGit) => gitFile(dotGit, '../outside/other/.git'),
  'a file .git that names a folder beneath some modules': (dotGit, other) => {
    fs.renameSync(other, join(other, '../git'));
    fs.mkdirSync(join(other, 'modules'), { recursive: true });
    fs.renameSync(join(other, '../git'), join(other, 'modules/one'));
    gitFile(dotGit, '../outside/other/.git/modules/one');
  },
  'a linked work tree in the root, of another repository': (dotGit, _, { root }) => {
    fs.renameSync(dotGit, join(root, 'store'));
    fs.writeFileSync(dotGit, 'gitdir: store\n');
    write(join(root, 'store/gitdir'), '../.git\n');
    write(join(root, 'store/commondir'), '../../outside/other/.git\n');
  },
  'a linked work tree of another root': (dotGit, other, { outside }) => {
    git(join(other, '..'), 'worktree', 'add', '-q', '-b', 'side', join(outside, 'other/linked'));
    gitFile(dotGit, '../outside/other/.git/worktrees/linked');
  },
  'an entry of a work tree that leads elsewhere': (dotGit, other) => {
    for (const [name, text] of [
      ['commondir', `${other}\n`],
      ['gitdir', `${other}\n`],
      ['HEAD', 'ref: refs/heads/main\n'],
    ] as const)
      write(join(dotGit, 'worktrees/x', name), text);
  },
  alternates: (dotGit, other) => write(join(dotGit, 'objects/info/alternates'), `${other}/objects\n`),
  'linked objects': (dotGit, other) => linkTo(join(dotGit, 'objects'), join(other, 'objects')),
  'linked packs': (dotGit, other) => {
    git(join(other, '..'), 'gc', '-q');
    linkTo(join(dotGit, 'objects/pack'), join(other, 'objects/pack'));
  },
  'a linked pack': (dotGit, other) => {
    git(join(other, '..'), 'gc', '-q');
    for (const name of fs.readdirSync(join(other, 'objects/pack')))
      linkTo(join(dotGit, 'objects/pack', name), join(other, 'objects/pack', name));
  },
  'linked refs and HEAD': (dotGit, other) => {
    for (const name of ['refs', 'HEAD', 'packed-refs', 'logs', 'config']) linkTo(join(dotGit, name), join(other, name));
  },
  'a loose object that is a link to a file': (dotGit, _, { root, outside }) => {
    git(root, 'update-ref', 'refs/heads/made', commitOf(root, 'src/made', '', MISSING));
    fs.mkdirSync(join(dotGit, 'objects/12'), { recursive: true });
    linkTo(join(dotGit, 'objects/12', MISSING.slice(2)), join(outside, 'secret.txt'));
  },
  'a folder of loose objects that is a link': (dotGit, _, { root, outside }) => {
    git(root, 'update-ref', 'refs/heads/made', commitOf(root, 'src/made', '', MISSING));
    fs.copyFileSync(join(outside, 'secret.txt'), join(outside, 'other', MISSING.slice(2)));
    linkTo(join(dotGit, 'objects/12'), join(outside, 'other'));
  },
  'a repository in the tree that leads elsewhere': (_, other, { root }) => {
    write(join(root, 'src/inner/.git'), `gitdir: ${other}\n`);
    write(join(root, 'src/inner/b/HEAD'), 'ref: refs/heads/main\n');
    for (const name of ['objects', 'refs', 'packed-refs']) linkTo(join(root, 'src/inner/b', name), join(other, name));
  },
  'a module that is a link to another repository': (dotGit, other, { root }) => {
    fs.mkdirSync(join(dotGit, 'modules'), { recursive: true });
    linkTo(join(dotGit, 'modules/one'), other);
    write(join(root, 'src/inner/.git'), 'gitdir: ../../.git/modules/one\n');
  },
  'a module whose commondir leads to another repository': (dotGit, other, { root }) => {
    write(join(dotGit, 'modules/one/HEAD'), 'ref: refs/heads/main\n');
    write(join(dotGit, 'modules/one/config'), '[core]\n\tworktree = ../../../src/inner\n');
    write(join(dotGit, 'modules/one/commondir'), `${other}\n`);
    write(join(root, 'src/inner/.git'), 'gitdir: ../../.git/modules/one\n');
  },
  'alternates by way of a store in the tree': (dotGit, other, { root }) => {
    write(join(root, 'src/inner/b/objects/info/alternates'), `${other}/objects\n`);
    for (const name of ['objects/pack', 'refs']) fs.mkdirSync(join(root, 'src/inner/b', name), { recursive: true });
    write(join(root, 'src/inner/b/HEAD'), 'ref: refs/heads/main\n');
    write(join(dotGit, 'objects/info/alternates'), '../../src/inner/b/objects\n');
  },
  'a configuration that includes files outside, and names another work tree': (dotGit, other, { root, outside }) => {
    write(join(other, 'more'), `[user]\n\tname = ${fs.readFileSync(join(outside, 'secret.txt'), 'utf8')}`);
    git(root, 'config', 'include.path', join(other, 'more'));
    git(root, 'config', '--add', 'include.path', join(outside, 'secret.txt'));
    fs.appendFileSync(join(dotGit, 'config'), `[core]\n\tworktree = ${join(other, '..')}\n`);
  },
  'lists of commits and messages that are links': (dotGit, _, { outside }) => {
    for (const name of ['shallow', 'packed-refs', 'MERGE_MSG', 'SQUASH_MSG', 'info/exclude', 'info/grafts'])
      linkTo(join(dotGit, name), join(outside, 'secret.txt'));
  },
  'names that are devices without an end': (dotGit) => {
    for (const name of ['ORIG_HEAD', 'FETCH_HEAD', 'commondir']) linkTo(join(dotGit, name), '/dev/zero');
    linkTo(join(dotGit, 'objects/info/alternates'), '/dev/zero');
  },
};

/** The commands for changes with which each git command takes seconds: git reads a device until its memory ends. */
const FEW_COMMANDS: { readonly [change: string]: string } = {
  'names that are devices without an end': 'git log -p --all; git cat-file --batch-all-objects --batch; true',
};

const EVERYTHING = `for dir in .git .git/worktrees/x src/inner/.git src/inner/b; do git --git-dir="$dir" log -p --all; done
  git config --list; git init -q /tmp/y; git -C /tmp/y config --list
  git log -p --all --reflog; git -C src/inner log -p --all; git cat-file --batch-all-objects --batch
  cat .git/objects/12/* .git/objects/pack/* .git/HEAD .git/logs/*; ls -laR .git/; ls -la ../outside ../outside/other
  python3 -c 'import sys,zlib; [print(zlib.decompressobj().decompress(open(name, "rb").read())) for name in sys.argv[1:] if "pack" not in name]' .git/objects/*/*; true`;

/** A bare repository in the tree under any name, with a token in its configuration and a secret in its history. */
const store = (at: string) => ({
  before: ({ root, secrets }: World) => {
    git(root, 'init', '-q', '--bare', '-b', 'main', at);
    git(join(root, at), 'config', 'remote.origin.url', `https://me:${secrets[0]}@example.com/x.git`);
    git(join(root, at), 'update-ref', 'HEAD', commitOf(join(root, at), '.env', `${secrets[1]}\n`));
  },
  after: ({ root }: World) => fs.rmSync(join(root, at), { recursive: true }),
});

const AT = 'src/gitstore';
const historyOf = (at: string) =>
  `cat ${at}/config; git --git-dir=${at} config --list; git --git-dir=${at} log -p --all; git --git-dir=${at} show HEAD:.env :.env
  git init -q /tmp/x; GIT_OBJECT_DIRECTORY=$PWD/${at}/objects git --git-dir=/tmp/x/.git cat-file --batch-all-objects --batch`;
const HISTORY = historyOf(AT);

/** Folders with very many files, where a search for repositories costs the most. */
const QUIET = [
  ...['objects', 'objects/zz', 'objects/12', 'refs', 'refs/heads', 'logs', 'hooks', 'info', 'lfs'].map(
    (folder) => `.git/${folder}`,
  ),
  'node_modules',
  'node_modules/dep',
  `${AT}/objects/zz`,
];

/** A repository in such a folder, also in that of another repository, and a masked file. */
const inQuiet = (folder: string) => ({
  before: (world: World) => {
    if (folder.startsWith(AT)) git(world.root, 'init', '-q', '--bare', AT);
    store(`${folder}/mine`).before(world);
    write(join(world.root, folder, '.env'), `${world.secrets[0]}\n`);
  },
  after: ({ root }: World) => {
    fs.rmSync(join(root, folder, 'mine'), { recursive: true });
    fs.rmSync(join(root, folder, '.env'));
    for (const made of [AT, '.git/objects/zz', '.git/lfs', 'node_modules/mine'])
      fs.rmSync(join(root, made), { recursive: true, force: true });
  },
});

/** The repository's objects without the repository, as another one may borrow them. */
const headless = {
  before: (world: World) => {
    store(AT).before(world);
    fs.rmSync(join(world.root, AT, 'HEAD'));
  },
  after: store(AT).after,
};
const bare = {
  before: (world: World) => {
    store(AT).before(world);
    fs.renameSync(join(world.root, AT, 'objects'), join(world.root, 'src/lent'));
    fs.rmSync(join(world.root, AT), { recursive: true });
    fs.renameSync(join(world.root, 'src/lent'), join(world.root, AT));
  },
  after: store(AT).after,
};

const hooked = {
  ...store(AT),
  files: { [`${AT}/hooks/pre-push`]: null, [`${AT}/more`]: null, [`${AT}/HEAD`]: 'ref: refs/heads/main\n' },
};

export const hostileRepositoryCases: readonly Case[] = [
  ...Object.entries(HOSTILE)
    .filter(([name]) => isDeep || !FEW_COMMANDS[name])
    .map(([name, change]) =>
      look.attack('R14', name, { command: FEW_COMMANDS[name] ?? EVERYTHING }, 'contained', hostile(change)),
    ),
  ...Object.entries(HOSTILE)
    .filter(([name]) => ['a commondir in .git', 'alternates', 'linked objects'].includes(name))
    .map(([name, change]) =>
      ship.attack('R14', `a commit with ${name}`, { sub: 'commit --all -m x' }, 'contained', hostile(change)),
    ),
  ship.attack('R14', 'a commit with linked files that steer git', { sub: 'add src' }, 'contained', {
    ...hostile((dotGit, other) => {
      for (const name of ['info', 'hooks', 'modules']) linkTo(join(dotGit, name), join(other, '..'));
    }),
  }),
  ...QUIET.flatMap((folder) =>
    [look, work].map((tool) =>
      tool.attack(
        'R14',
        `a repository in ${folder}`,
        { command: `${historyOf(`${folder}/mine`)}; cat ${folder}/.env; git log --oneline -1` },
        'contained',
        { ...inQuiet(folder), shows: ['first'] },
      ),
    ),
  ),
  ...[look, work].flatMap((tool) => [
    tool.attack('R14', 'a bare repository in the tree', { command: HISTORY }, 'contained', store(AT)),
    tool.attack('R14', 'objects and refs without a HEAD', { command: HISTORY }, 'contained', headless),
    tool.attack('R14', 'a folder of objects alone', { command: HISTORY.replaceAll('/objects', '') }, 'contained', bare),
  ]),
  ...[
    `echo x > ${AT}/hooks/pre-push; echo x > ${AT}/more; echo x > ${AT}/config; rm -rf ${AT}/objects; true`,
    `mkdir src/b; mv ${AT} src/b/; mv src/b ${AT}; mv ${AT} src/c; mkdir -p ${AT}/hooks; echo x > ${AT}/more; rm -rf ${AT}; true`,
  ].map((command) => work.attack('R8', `a bare repository in the tree: ${command}`, { command }, 'contained', hooked)),
  rows('edit', 'write').attack(
    'R8',
    'a hook of one',
    { path: `${AT}/hooks/pre-push`, content: 'x' },
    'refused',
    hooked,
  ),
  rows('edit', 'write').attack('R8', 'a file in one', { path: `${AT}/more`, content: 'x' }, 'refused', hooked),
  rows('edit', 'edit').attack(
    'R8',
    'its config',
    { path: `${AT}/config`, old: 'bare', new: 'x' },
    'refused',
    store(AT),
  ),
  rows('explore', 'read').attack('R14', 'the config of one', { path: `${AT}/config` }, 'refused', store(AT)),
  rows('explore', 'grep').attack('R14', 'the config of one', { pattern: 'https://' }, 'contained', store(AT)),
  look.benign(
    'control',
    'git reads a bare repository in the tree',
    { command: `git --git-dir=${AT} log --format=%s && git --git-dir=${AT} ls-tree HEAD --name-only` },
    { ...store(AT), shows: ['made\\n.env'] },
  ),
];
