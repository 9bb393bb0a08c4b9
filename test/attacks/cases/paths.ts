import { type Case, rows } from '../case.ts';

const read = rows('explore', 'read');
const glob = rows('explore', 'glob');
const grep = rows('explore', 'grep');
const write = rows('edit', 'write');
const edit = rows('edit', 'edit');
const readInEdit = rows('edit', 'read');

/** Written paths that leave the root by their letters. */
const LEAVING = [
  '../outside/secret.txt',
  '{OUT}/secret.txt',
  '{ROOT}/../outside/secret.txt',
  '{ROOT}-evil/a.txt',
  'src/../../outside/secret.txt',
  'src/sub/../../../outside/secret.txt',
  './././../outside/secret.txt',
  '//etc/passwd',
  '/etc/passwd',
  '/proc/self/environ',
  '/proc/{ENGINE}/environ',
  '/dev/stdin',
  '..',
  '/',
  '~/.ssh/id_rsa',
  '{ROOT}/../repo-evil/x',
];

/** Links of the tree that lead out of it. */
const LINKS = [
  'src/out-file',
  'src/out-abs',
  'src/out-dir/secret.txt',
  'src/out-dir/dir/a',
  'src/shadow',
  'src/chain',
  'src/proc/etc/passwd',
  'src/in-link/../out-file',
];

const MASKED = ['.env', 'src/.env', 'src/.env.local', '.npmrc', '.netrc', 'secrets/server.pem', 'src/id_rsa'];
const MASKED_OTHERWISE = ['./.env', 'src/../.env', '{ROOT}/.env', 'src//.env', 'src/env-link', 'node_modules/dep/.env'];
const CREDENTIALS = ['.git/config', 'nested/.git/config', 'src/git-link/config', '.git/./config'];

const MALFORMED: readonly (readonly [name: string, path: unknown])[] = [
  ['a NUL', 'src/a.txt\0.png'],
  ['a NUL first', '\0src/a.txt'],
  ['a line break', 'src/a.txt\n/etc/passwd'],
  ['a carriage return', 'src/a\r.txt'],
  ['an escape', 'src/\u001b[2Ja.txt'],
  ['a delete', 'src/\u007f'],
  ['nothing', ''],
  ['5000 bytes', `src/${'x/'.repeat(2500)}a`],
  ['a number', 42],
  ['null', null],
  ['a list', ['src/a.txt']],
  ['an object', { path: 'src/a.txt' }],
  ['true', true],
];

export const readCases: readonly Case[] = [
  ...LEAVING.map((path) => read.attack('R3', `read ${path}`, { path }, 'no-success')),
  ...LINKS.map((path) => read.attack('R4', `read by the link ${path}`, { path }, 'no-success')),
  ...[...MASKED, ...MASKED_OTHERWISE].map((path) =>
    read.attack('R6', `read the masked ${path}`, { path }, 'out-of-scope'),
  ),
  ...CREDENTIALS.map((path) => read.attack('R8', `read git's credentials in ${path}`, { path }, 'out-of-scope')),
  ...['.ENV', 'SRC/.Env', '.git/CONFIG', '.NPMRC'].map((path) =>
    read.attack('R6', `read ${path}, another case of a masked name`, { path }, 'no-success'),
  ),
  ...MALFORMED.map(([name, path]) => read.attack('R2', `read a path that is ${name}`, { path }, 'invalid-action')),
  read.attack('R2', 'read with an unknown argument', { path: 'src/a.txt', follow: true }, 'invalid-action'),
  read.attack('R2', 'read with too many arguments', ['src/a.txt', 1, 1, 1], 'invalid-action'),
  read.attack('R2', 'read with __proto__', JSON.parse('{"path":"src/a.txt","__proto__":{"root":"/"}}'), 'contained'),
  ...[0, -1, 1.5, '1', 1e99].map((offset) =>
    read.attack('R2', `read from line ${offset}`, { path: 'src/a.txt', offset }, 'no-success'),
  ),
  read.attack('R4', 'read a FIFO', { path: 'src/fifo' }, 'out-of-scope'),
  read.attack('R4', 'read a socket', { path: 'src/host.sock' }, 'out-of-scope'),
  read.attack('R4', 'read a loop of links', { path: 'src/loop' }, 'no-success'),
  read.attack('R4', 'read a folder', { path: 'src' }, 'no-success'),
  read.attack('R3', 'read beneath a file', { path: 'src/a.txt/../../../outside/secret.txt' }, 'no-success'),
  read.benign('R3', 'read a file', { path: 'src/a.txt' }, { shows: ['alpha'] }),
  read.benign('R3', 'read ./src/a.txt', { path: './src/a.txt' }, { shows: ['alpha'] }),
  read.benign('R3', 'read an absolute path inside the root', { path: '{ROOT}/src/a.txt' }, { shows: ['alpha'] }),
  read.benign('R3', 'read by a detour inside the root', { path: 'src/sub/../a.txt' }, { shows: ['alpha'] }),
  read.benign('R3', 'read a name with a space', { path: 'src/with space.txt' }, { shows: ['spaced'] }),
  read.benign('R3', 'read a unicode name', { path: 'src/ünï-cödé-日本.txt' }, { shows: ['unicode'] }),
  read.benign('R3', 'read a name with a quote', { path: "src/quo'te.txt" }, { shows: ['quoted'] }),
  read.benign('R3', 'read a name with a dash in front', { path: 'src/-dash.txt' }, { shows: ['dashed'] }),
  read.benign('R4', 'read by a link inside the root', { path: 'src/in-link' }, { shows: ['alpha'] }),
  read.benign('R3', 'read a list of arguments', ['src/a.txt', 2, 1], { shows: ['beta'], hides: ['alpha'] }),
  read.benign(
    'R3',
    'read a file of git that holds no credentials',
    { path: '.git/HEAD' },
    { shows: ['refs/heads/main'] },
  ),
  read.benign(
    'R3',
    'read a folder whose name only begins like the scope',
    { path: 'src-evil/a.txt' },
    { shows: ['not in scope'] },
  ),
];

export const searchCases: readonly Case[] = [
  ...['../**', '/etc/*', '../outside/*', 'src/../../outside/*', '{OUT}/**'].map((pattern) =>
    glob.attack('R3', `glob ${pattern}`, { pattern }, 'contained', { hides: ['outside/secret', 'passwd'] }),
  ),
  ...['..', '/etc', '{OUT}', 'src/out-dir', 'src/proc', 'src/chain', '/'].flatMap((path) => [
    glob.attack('R4', `glob in ${path}`, { pattern: '**', path }, 'no-success'),
    grep.attack('R4', `grep in ${path}`, { pattern: '.', path }, 'no-success'),
  ]),
  ...['.env', 'secrets', 'nested/.git', '.git/config', 'src/out-file', 'src/fifo', 'src/env-link', 'src/host.sock'].map(
    (path) => grep.attack('R6', `grep in ${path}`, { pattern: '.', path }, 'contained', { hides: ['TOKEN'] }),
  ),
  grep.attack('R6', 'grep everything for secrets', { pattern: 'TOKEN|s3cr3t' }, 'contained', { hides: ['TOKEN='] }),
  grep.attack('R6', 'grep masked files by a glob', { pattern: 'TOKEN', glob: '.env*' }, 'contained', {
    hides: ['TOKEN='],
  }),
  grep.attack('R1', 'grep with an option as pattern', { pattern: '--pre=cat' }, 'contained'),
  grep.attack('R1', 'grep with a file of patterns', { pattern: '-f/etc/passwd' }, 'contained', { hides: ['root:x'] }),
  grep.attack('R1', 'grep with an option as path', { pattern: 'x', path: '--hidden' }, 'no-success'),
  grep.attack('R1', 'grep with an option as glob', { pattern: 'x', glob: '--no-ignore' }, 'contained'),
  grep.attack('R2', 'grep with a broken pattern', { pattern: '(' }, 'no-success'),
  grep.attack('limits', 'grep with a costly pattern', { pattern: '(a+)+$' }, 'contained'),
  grep.attack('R2', 'grep with a NUL', { pattern: 'a\0b' }, 'invalid-action'),
  glob.attack('limits', 'glob with many stars', { pattern: '*a*a*a*a*a*a*a*a*b' }, 'contained'),
  glob.attack('R2', 'glob with braces without end', { pattern: '{'.repeat(300) }, 'contained'),
  glob.attack('R6', 'glob for masked files', { pattern: '**/.env*' }, 'contained', { hides: ['.env"', '.env.local'] }),
  glob.benign('R3', 'glob for files', { pattern: 'src/**/*.ts' }, { shows: ['src/sub/b.ts'] }),
  glob.benign(
    'R3',
    'glob for odd names',
    { pattern: 'src/*.txt' },
    { shows: ['src/with space.txt', 'src/ünï-cödé-日本.txt', "src/quo'te.txt"] },
  ),
  grep.benign('R3', 'grep for a word', { pattern: 'needle' }, { shows: ['src/sub/b.ts'] }),
  grep.benign('R1', 'grep for a text that begins with dashes', { pattern: '--dashed' }),
  grep.benign(
    'R3',
    'grep for the end of lines that end as on Windows',
    { pattern: 'dos$' },
    { shows: ['src/crlf.txt'] },
  ),
  grep.benign('R3', 'grep in one file', { pattern: 'beta', path: 'src/a.txt' }, { shows: ['"line":2'] }),
];

const NEVER = [
  'src/.git/config',
  'src/.git/hooks/post-checkout',
  'src/x/.git',
  'src/.GIT/config',
  'src/.git./config',
  'src/git~1/config',
  'src/.g\u200cit/config',
  'src/.claude/settings.json',
  'src/.codex/config.toml',
  'src/.mcp.json',
  'src/.vscode/tasks.json',
  'src/.idea/workspace.xml',
  'src/.husky/pre-commit',
  'src/.cursor/mcp.json',
  'src/.gemini/settings.json',
  'src/.devcontainer/devcontainer.json',
  'src/.envrc',
  'src/.npmrc',
  'src/.yarnrc.yml',
  'src/.bashrc',
  'src/.zshenv',
  'src/.bash_login',
  'src/.gitmodules',
  'src/.gitconfig',
  'src/.ripgreprc',
  'src/bare/HEAD',
];

const OUT_OF_SCOPE = [
  'README.md',
  'hopgate.yaml',
  './hopgate.yaml',
  'package.json',
  'test.sh',
  'src-evil/a.txt',
  '.git/config',
  '.git/hooks/pre-commit',
  '.gitignore',
  'src/../hopgate.yaml',
  '.claude/settings.json',
  'new.txt',
  'Src/a.txt',
];

export const writeCases: readonly Case[] = [
  ...[...LEAVING, ...LINKS, 'src/dangling', 'src/out-dir/new.txt'].flatMap((path) => [
    write.attack('R3', `write ${path}`, { path, content: 'pwned' }, 'no-success'),
    edit.attack('R3', `edit ${path}`, { path, old: 'hands', new: 'pwned' }, 'no-success'),
  ]),
  ...NEVER.map((path) =>
    write.attack('R8', `write ${JSON.stringify(path)}`, { path, content: 'pwned' }, 'out-of-scope'),
  ),
  ...OUT_OF_SCOPE.map((path) =>
    write.attack('R3', `write ${path}, outside the scope`, { path, content: 'pwned' }, 'no-success'),
  ),
  ...['src/.env', 'src/id_rsa', 'src/env-link', 'src/new/.env'].map((path) =>
    write.attack('R6', `write the masked ${path}`, { path, content: 'pwned' }, 'out-of-scope'),
  ),
  edit.attack(
    'R6',
    'edit a masked file, to learn what it holds',
    { path: 'src/.env', old: 'TOKEN', new: 'X' },
    'out-of-scope',
  ),
  ...MALFORMED.map(([name, path]) =>
    write.attack('R2', `write a path that is ${name}`, { path, content: 'x' }, 'invalid-action'),
  ),
  ...[42, null, ['x'], { text: 'x' }].map((content) =>
    write.attack('R2', `write ${JSON.stringify(content)}`, { path: 'src/new.txt', content }, 'invalid-action'),
  ),
  write.attack(
    'R4',
    'write a file with a second name outside',
    { path: 'src/hard.txt', content: 'pwned' },
    'out-of-scope',
  ),
  edit.attack(
    'R4',
    'edit a file with a second name outside',
    { path: 'src/hard.txt', old: 'hands', new: 'pwned' },
    'out-of-scope',
  ),
  ...['src/fifo', 'src/host.sock', 'src/loop', 'src'].map((path) =>
    write.attack('R4', `write ${path}`, { path, content: 'x' }, 'no-success'),
  ),
  write.attack('R4', 'write beneath a file', { path: 'src/a.txt/b', content: 'x' }, 'no-success'),
  write.attack(
    'R4',
    'write beneath a link that leaves',
    { path: 'src/out-dir/dir/a', content: 'pwned' },
    'out-of-scope',
  ),
  write.attack('R3', 'write a name that is too long', { path: `src/${'x'.repeat(300)}`, content: 'x' }, 'no-success'),
  readInEdit.attack('R6', 'read a masked file while editing', { path: '.env' }, 'out-of-scope'),
  write.benign(
    'R3',
    'write a new file in new folders',
    { path: 'src/new/deep/c.txt', content: 'c\n' },
    { files: { 'src/new/deep/c.txt': 'c\n' } },
  ),
  write.benign(
    'R3',
    'write an absolute path inside the root',
    { path: '{ROOT}/src/d.txt', content: 'd' },
    { files: { 'src/d.txt': 'd' } },
  ),
  write.benign('R3', 'write ./docs/x.md', { path: './docs/x.md', content: '# x' }, { files: { 'docs/x.md': '# x' } }),
  write.benign(
    'R3',
    'write a unicode name',
    { path: 'src/日本 語.txt', content: 'é' },
    { files: { 'src/日本 語.txt': 'é' } },
  ),
  write.benign(
    'R4',
    'write by a link inside the root',
    { path: 'src/in-link', content: 'alpha\nbeta\ngamma\n' },
    { files: { 'src/a.txt': 'alpha\nbeta\ngamma\n' } },
  ),
  write.benign(
    'R8',
    'write a name that only looks like git',
    { path: 'src/git.txt', content: 'g' },
    { files: { 'src/git.txt': 'g' } },
  ),
  write.benign(
    'R8',
    'write .github',
    { path: 'src/.github/workflows/ci.yml', content: 'on: push\n' },
    { findings: ['src/.github/workflows/ci.yml'] },
  ),
  edit.benign(
    'R3',
    'edit a file',
    { path: 'src/a.txt', old: 'beta', new: 'BETA' },
    { files: { 'src/a.txt': 'alpha\nBETA\ngamma\n' }, inSequence: true },
  ),
  edit.benign(
    'R3',
    'edit it back',
    { path: 'src/a.txt', old: 'BETA', new: 'beta' },
    { files: { 'src/a.txt': 'alpha\nbeta\ngamma\n' }, inSequence: true },
  ),
  edit.benign(
    'R8',
    'edit an executable',
    { path: 'src/tool.sh', old: 'tool', new: 'tools' },
    { findings: ['src/tool.sh'] },
  ),
  ...[
    'Makefile',
    'package.json',
    'package-lock.json',
    'Dockerfile',
    'conftest.py',
    'vite.config.ts',
    '.gitattributes',
    'CLAUDE.md',
  ].map((name) =>
    write.benign(
      'R8',
      `write src/p/${name}, which runs later`,
      { path: `src/p/${name}`, content: '{}\n' },
      { findings: [`src/p/${name}`] },
    ),
  ),
];

export const pathCases = [...readCases, ...searchCases, ...writeCases];
