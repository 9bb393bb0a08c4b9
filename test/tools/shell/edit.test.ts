import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { splitWords } from '../../../src/base/text.ts';
import { shellBackend } from '../../../src/tools/shell/shell-backend.ts';
import { isDeep, sample } from '../../depth.ts';
import { ok, run, sandbox, scratch, sleepers, toolCall } from './support.ts';

const shell = (root: string, command: string) => ok(root, 'bash', { command });
const sha = (text: string) => createHash('sha256').update(text).digest('hex');
const read = (root: string, path: string) => readFileSync(join(root, path), 'utf8');
const why = (result: { dropped: { path: string; why: string }[] }, path: string) =>
  result.dropped.find((drop) => drop.path === path)?.why;

test.each(sample(['.mcp.json', '.vscode', '.inputrc'], 3))(
  'bash does not mount the target of a link over the protected %s',
  async (name) => {
    const outside = scratch({ secret: 'SECRET' });
    const root = scratch({ 'src/a.txt': 'a' });
    symlinkSync(name === '.vscode' ? outside : join(outside, 'secret'), join(root, name));
    const { result } = await ok(root, 'bash', { command: `cat ${name} ${name}/secret; cat src/a.txt; rm ${name}` });
    expect(result).toMatchObject({ exit: 0, stdout: 'a' });
    expect(readlinkSync(join(root, name))).toContain(outside);
  },
);

const HOMES = [
  [{}, 1],
  [{ home: 2 }, 2],
] as const;
test.each(sample(HOMES, 2))(
  'bash with %j has a home folder, a /tmp and files of at most %i GiB',
  async (config, size) => {
    const command = 'df --output=size -B1G ~ /tmp | tail -n +2; ulimit -f';
    const { result } = await ok(scratch(), 'bash', { command }, { config });
    expect(result.stdout.trim().split(/\s+/)).toEqual([size, size, size * 2 ** 20].map(String));
  },
);

describe('bash with masked files in the tree', () => {
  test.runIf(isDeep)('can delete and recreate a folder of packages with masked files', async () => {
    const pem = 'node_modules/dep/test/key.pem';
    const root = scratch({ [pem]: 'SECRET', 'node_modules/dep/.env': 'SECRET', 'src/a': 'a' });
    const { result } = await shell(
      root,
      `rm -rf node_modules && mkdir -p node_modules/dep/test && echo new > ${pem} && cat ${pem} && cat node_modules/dep/.env`,
    );
    expect(result).toMatchObject({ stdout: 'new\n', exit: 1 });
    expect(result.stderr).toMatch(/No such file/);
    expect(read(root, pem)).toBe('SECRET');
  });

  test.runIf(isDeep)('works with more masked files than can be mounted', async () => {
    const names = Array.from({ length: 4000 }, (_, i) => `certs/${i % 50}/${i}.pem`);
    const root = scratch(Object.fromEntries(names.map((name) => [name, 'SECRET'])));
    for (const tool of ['bash', 'bash-readonly']) {
      const command = 'cat certs/*/* && find certs -type f -size 0 | wc -l && touch x';
      const { result } = await ok(root, tool, { command });
      expect(result).toMatchObject({ stdout: '4000\n', exit: 0 });
    }
    expect(existsSync(join(root, 'x'))).toBe(false);
  });

  test.runIf(isDeep)('shows the folder of a masked file as it is outside', async () => {
    const root = scratch({ 'src/shut/a.pem': 'SECRET', 'src/shut/b': 'b' });
    chmodSync(join(root, 'src/shut'), 0o2751);
    const { result } = await shell(root, 'stat -c %a src/shut; touch src/shut/b; ls src/shut');
    expect(result).toMatchObject({ stdout: '2751\na.pem\nb\n', exit: 0, dropped: [] });
    chmodSync(join(root, 'src/shut'), 0o750);
    expect((await shell(root, 'stat -c %a src/shut')).result).toMatchObject({ stdout: '750\n', dropped: [] });
  });

  test.runIf(isDeep)('covers a masked file as soon as it exists', async () => {
    const root = scratch({ 'src/.env': 'SECRET' });
    for (const path of ['src/a.pem', 'lib/deep/b.pem']) {
      mkdirSync(join(root, path, '..'), { recursive: true });
      writeFileSync(join(root, path), 'SECRET');
      expect((await shell(root, `cat src/.env ${path}`)).result).toMatchObject({ stdout: '', exit: 0 });
    }
  });

  test('shows only the format settings of a repository inside the tree', async () => {
    const root = scratch({
      'sub/.git/config': '[core]\n\tbare = false\n[remote "o"]\n\turl = https://me:SECRET@example.com/\n',
      'sub/.git/HEAD': 'ref: refs/heads/main\n',
    });
    const config = (
      await ok(root, 'bash-test', {}, { config: { test: [{ run: ['cat', 'sub/.git/config'], report: 'none' }] } })
    ).result;
    expect(config.stdout).toBe('[core]\n\tbare = false\n');
  });
});

describe('the hint of bash about masked files', () => {
  test.each(sample(['bash', 'bash-readonly', 'bash-test'], 3))(
    'names the masked files in a failed command line: %s',
    async (tool) => {
      const root = scratch({
        'test/tls/server.pem': 'SECRET',
        'other.pem': 'SECRET',
        'load.sh': 'cat test/tls/server.pem; echo "bad end line: test/tls/server.pem"; exit ${1:-3}',
      });
      const config = { test: [{ run: ['sh', 'load.sh', '{args}'], report: 'none' as const }] };
      const call = (status: string) =>
        ok(
          root,
          tool,
          tool === 'bash-test' ? { command: ['sh', 'load.sh', status] } : { command: `sh load.sh ${status}` },
          { config },
        );
      expect((await call('3')).result.masked).toMatch(
        /^Empty here, because they are masked: test\/tls\/server\.pem\. If/,
      );
    },
  );

  test.each(sample(['bash', 'bash-readonly', 'bash-test'], 3))(
    'names exactly the masked files that a failed command read: %s',
    async (tool) => {
      const root = scratch({
        ...Object.fromEntries(
          ['a.pem', 'b.pem', 'c.pem', 'd.pem', '-e "\n.pem', 'node_modules/f/f.pem', 'src/.env'].map((path) => [
            path,
            'SECRET',
          ]),
        ),
        'load.sh':
          'cd src; cat ../a.pem; wc -c ../node_modules/*/f.pem; cat -- ../-e*; ls -l ../b.pem; test -s ../c.pem; test -f ../d.pem; echo b.pem c.pem; echo x > new.pem; mv -f new.pem .env',
      });
      const config = { test: [{ run: ['sh', 'load.sh'], report: 'none' as const }] };
      const args = { command: tool === 'bash-test' ? ['sh', 'load.sh'] : 'sh load.sh' };
      const { result } = await ok(root, tool, args, { config });
      expect(result.stderr).toBe('');
      expect(result.masked).toMatch(
        /^Empty here, because they are masked: -e "\n\.pem, a\.pem, node_modules\/f\/f\.pem\. If/,
      );
    },
  );

  test.runIf(isDeep)('names a masked file in the line of a successful command', async () => {
    const { result } = await shell(scratch({ 'server.pem': 'SECRET', 'b.txt': 'b' }), 'cat ./server.pem | wc -c');
    expect(result).toMatchObject({ exit: 0, masked: expect.stringContaining('masked: server.pem.') });
    expect((await shell(scratch({ 'server.pem': 'SECRET' }), 'ls')).result).not.toHaveProperty('masked');
  });
});

describe('bash within the scope', () => {
  test('keeps new, changed and deleted files, and reports their hashes', async () => {
    const root = scratch({ 'src/a.txt': 'a', 'src/b.txt': 'b', 'src/same.txt': 's' });
    const { result, effects } = await shell(
      root,
      `sed -i s/a/A/ src/a.txt; rm src/b.txt; mkdir -p "src/neu ä/x"; echo new > "src/neu ä/x/c.txt"; touch src/same.txt`,
    );
    expect(result).toMatchObject({ exit: 0, dropped: [] });
    expect(read(root, 'src/a.txt')).toBe('A');
    expect(existsSync(join(root, 'src/b.txt'))).toBe(false);
    expect(read(root, 'src/neu ä/x/c.txt')).toBe('new\n');
    expect(effects).toEqual([
      { path: 'src/b.txt', op: 'delete', before: sha('b') },
      { path: 'src/a.txt', op: 'modify', before: sha('a'), after: sha('A') },
      { path: 'src/neu ä/x/c.txt', op: 'create', after: sha('new\n') },
    ]);
  });

  test.runIf(isDeep)(
    'keeps files that a glob grants, except excluded ones; also new files in new folders',
    async () => {
      const root = scratch({ 'main.go': 'a', 'packages/a/src/x': 'x', 'packages/a/readme': 'r', 'vendor/v.go': 'v' });
      const change = (write: string[]) =>
        ok(
          root,
          'bash',
          {
            command:
              'n=$(date +%N); echo $n | tee main.go new.go cmd.txt vendor/v.go; mkdir -p packages/b/src/deep; echo $n | tee packages/b/src/deep/y packages/b/z packages/a/readme; mkdir other',
          },
          { envelope: { scope: { read: 'root', write, command: 'contained', url: 'none' } } },
        );
      const globs = await change(['*.go', 'packages/*/src/']);
      expect(globs.effects).toMatchObject([
        { path: 'main.go', op: 'modify' },
        { path: 'new.go', op: 'create' },
        { path: 'packages/b/src/deep/y', op: 'create' },
      ]);
      expect(globs.result.dropped.map(({ path }: { path: string }) => path).sort()).toEqual(
        splitWords('cmd.txt other packages/a/readme packages/b/z vendor/v.go'),
      );
      const excluding = await change(['.', '!vendor/', '!README*']);
      expect(excluding.result.dropped).toEqual([
        { path: 'packages/a/readme', why: 'it is excluded from the writable paths (!README*)' },
        { path: 'vendor/v.go', why: 'it is excluded from the writable paths (!vendor/)' },
      ]);
      expect(read(root, 'vendor/v.go')).toBe('v');
      expect(read(root, 'packages/b/z')).toBe(read(root, 'main.go'));
    },
  );

  test.runIf(isDeep)('reports the exact differences of a folder that was removed and made again', async () => {
    const root = scratch({ 'src/d/a': '1', 'src/d/b': '2', 'src/d/e/c': '3', 'src/other': 'o' });
    const { effects } = await shell(root, 'rm -rf src/d && mkdir src/d && echo -n 1 > src/d/a && echo -n 9 > src/d/b');
    expect(effects).toEqual([
      { path: 'src/d/e/c', op: 'delete', before: sha('3') },
      { path: 'src/d/b', op: 'modify', before: sha('2'), after: sha('9') },
    ]);
    expect(readdirSync(join(root, 'src/d')).sort()).toEqual(['a', 'b']);
  });

  test.runIf(isDeep)('keeps the moves of files and folders', async () => {
    const root = scratch({ 'src/d/a': '1', 'src/d/b': '2' });
    const { result } = await shell(root, 'mv src/d src/moved');
    expect(result).toMatchObject({ exit: 0, dropped: [] });
    expect(existsSync(join(root, 'src/d'))).toBe(false);
    expect(read(root, 'src/moved/b')).toBe('2');
  });

  test.runIf(isDeep)('leaves a file in its place if a command moves it out of the scope', async () => {
    const root = scratch({ 'src/a': 'one', 'src/d/b': 'two', 'src/d/c': 'three', 'src/gone': 'four', 'src/empty': '' });
    symlinkSync('a', join(root, 'src/link'));
    const { result } = await shell(
      root,
      'mkdir lib; mv src/a lib/a; mv src/link lib/; mv src/d lib/moved; mv src/empty lib/; rm src/gone; echo five > lib/e',
    );
    expect(result.changed).toEqual([
      { path: 'src/empty', op: 'delete' },
      { path: 'src/gone', op: 'delete' },
    ]);
    for (const path of ['src/a', 'src/d/b', 'src/d/c', 'src/link'])
      expect(why(result, path)).toBe('deleted, but its content is only in a file that is not kept');
    expect(read(root, 'src/d/b')).toBe('two');
    expect(readlinkSync(join(root, 'src/link'))).toBe('a');
  });

  test.runIf(isDeep)('keeps a file that becomes a folder, and a folder that becomes a file', async () => {
    const root = scratch({ 'src/a': 'file', 'src/b/x': 'x' });
    await shell(root, 'rm src/a && mkdir src/a && echo 1 > src/a/y; rm -r src/b && echo 2 > src/b');
    expect(read(root, 'src/a/y')).toBe('1\n');
    expect(read(root, 'src/b')).toBe('2\n');
  });

  test('keeps permissions', async () => {
    const root = scratch({ 'src/run.sh': '#!/bin/sh\n' });
    const { effects } = await shell(root, 'chmod 755 src/run.sh; printf x > src/new.sh; chmod 700 src/new.sh');
    expect(lstatSync(join(root, 'src/run.sh')).mode & 0o777).toBe(0o755);
    expect(lstatSync(join(root, 'src/new.sh')).mode & 0o777).toBe(0o700);
    expect(effects).toContainEqual({
      path: 'src/run.sh',
      op: 'mode',
      before: sha('#!/bin/sh\n'),
      after: sha('#!/bin/sh\n'),
      finding: 'a shell runs this file',
    });
  });

  test('leaves no traces if nothing changed', async () => {
    const root = scratch({ 'src/a': 'a' });
    const { result, effects } = await shell(root, 'cat src/a; echo y > /tmp/y');
    expect(result).toMatchObject({ exit: 0, stdout: 'a', changed: [], dropped: [] });
    expect(effects).toEqual([]);
    await shell(root, 'echo 1 > src/b');
    expect(readdirSync(root)).toEqual(['src']);
  });

  test('keeps the changes of a command that failed', async () => {
    const root = scratch({ 'src/a': 'a' });
    const { result } = await shell(root, 'echo half > src/a; exit 7');
    expect(result.exit).toBe(7);
    expect(read(root, 'src/a')).toBe('half\n');
  });
});

describe('the check of the changes by bash', () => {
  test.runIf(isDeep)(
    'names files that git ignores once and without a warning, unless the command only deleted them',
    async () => {
      const root = scratch({ 'src/a': 'a', 'dist/1': 'x', 'out/kept': 'k', '.gitignore': 'dist/\nout/\n*.o\n' });
      execFileSync('git', ['init', '-q'], { cwd: root });
      execFileSync('git', ['add', '-f', 'out/kept'], { cwd: root });
      const { result } = await shell(
        root,
        'mkdir dist/x lib; touch dist/{2,3,4,5} dist/x/{6,7} lib/{a,b}; rm dist/1; mkdir dist/.cache; touch dist/.cache/{a,b} a.o; echo > out/kept',
      );
      expect(result.dropped.map((drop: { path: string }) => drop.path)).toEqual(['lib', 'out/kept']);
      expect(why(result, 'out/kept')).toMatch(/^it is outside the scope/);
      expect(result.droppedOutputs.sort()).toEqual(['a.o', 'dist', 'dist/.cache']);
      const few = (await shell(root, 'touch dist/2')).result;
      expect(few).toMatchObject({ dropped: [], droppedOutputs: ['dist'] });
      expect(few).not.toHaveProperty('warning');
      expect((await shell(root, 'rm dist/1')).result.dropped.map((drop: { path: string }) => drop.path)).toEqual([
        'dist/1',
      ]);
    },
  );

  test.runIf(isDeep)('names each cache of a tool once, and without a warning', async () => {
    const root = scratch({
      'src/a': 'a',
      'tests/a.py': '',
      'node_modules/.vite/old': 'x',
      '.gitignore': 'node_modules/\n',
    });
    const write =
      'mkdir -p node_modules/.vite/vitest/x {src,tests}/__pycache__; touch node_modules/.vite/vitest/x/{1,2}.json {src,tests}/__pycache__/a.pyc a.tsbuildinfo';
    const { result } = await shell(root, write);
    expect(result).toMatchObject({ exit: 0, changed: [], dropped: [] });
    expect(result).not.toHaveProperty('warning');
    expect(result.droppedOutputs.sort()).toEqual([
      'a.tsbuildinfo',
      'node_modules/.vite',
      'src/__pycache__',
      'tests/__pycache__',
    ]);
    const both = (await shell(root, 'touch node_modules/.vite/1 other; rm node_modules/.vite/old')).result;
    expect(both.dropped.map((drop: { path: string }) => drop.path)).toEqual(['node_modules/.vite/old', 'other']);
    expect(both.droppedOutputs).toEqual(['node_modules/.vite']);
  });

  test('drops writes outside the scope', async () => {
    const root = scratch({ 'src/a': 'a', 'package.json': '{}', 'src-evil/a': 'x' });
    const { result, effects } = await shell(
      root,
      'echo bad > package.json; echo bad > src-evil/a; mkdir build; echo bad > build/x; rm -rf docs; echo ok > src/a',
    );
    expect(result.exit).toBe(0);
    expect(result.dropped.map((drop: { path: string }) => drop.path)).toEqual(['build', 'package.json', 'src-evil/a']);
    expect(read(root, 'package.json')).toBe('{}');
    expect(existsSync(join(root, 'build'))).toBe(false);
    expect(effects).toHaveLength(1);
  });

  test('drops deletions outside the scope, and restores protected or masked files of a deleted folder', async () => {
    const root = scratch({ 'src/a': 'a', 'README.md': 'r', 'src/keep/.env': 'SECRET', 'src/keep/b': 'b' });
    const { result } = await shell(root, 'rm README.md; rm -rf src/keep');
    expect(read(root, 'README.md')).toBe('r');
    expect(read(root, 'src/keep/.env')).toBe('SECRET');
    expect(existsSync(join(root, 'src/keep/b'))).toBe(false);
    expect(why(result, 'README.md')).toMatch(/outside the scope/);
    expect(why(result, 'src/keep/.env')).toMatch(/masked/);
  });

  test.runIf(isDeep)('drops more than 1 GiB, holes included, and keeps the holes of smaller files', async () => {
    const root = scratch({ 'src/a': '' });
    const { result } = await shell(root, 'echo one > src/a; truncate -s 400M src/a src/b src/c; echo two >> src/b');
    expect(lstatSync(join(root, 'src/a')).size).toBe(400 << 20);
    expect(lstatSync(join(root, 'src/b')).blocks).toBeLessThan(1000);
    expect(execFileSync('tail', ['-c', '5', join(root, 'src/b')], { encoding: 'utf8' })).toBe('\0two\n');
    expect(existsSync(join(root, 'src/c'))).toBe(false);
    expect(why(result, 'src/c')).toMatch(/exceed 1 GiB in total/);
  });

  test.runIf(isDeep)('drops files that are deeper than the longest path', async () => {
    const root = scratch({ 'src/a': '', 'docs/a': '' });
    const nest = (folder: string) =>
      `import os; os.chdir("${folder}")\nfor i in range(500): os.mkdir("deeper" * 3); os.chdir("deeper" * 3)`;
    const { result } = await shell(root, `python3 -c '${nest('src')}'; echo b > src/b`);
    expect(result).toMatchObject({
      exit: 0,
      dropped: [{ why: 'its path is longer than the system allows' }],
    });
    expect(read(root, 'src/b')).toBe('b\n');
    expect((await shell(root, 'rm -r src/d*')).result).toMatchObject({ exit: 0, dropped: [] });
    execFileSync('python3', ['-c', nest('docs')], { cwd: root });
    for (const tool of ['bash', 'bash-readonly'])
      expect((await run(root, tool, { command: 'ls' })).outcome).toMatchObject({
        status: 'failed',
        code: 'layout-impossible',
        message: expect.stringContaining('too deep to be read; delete or move it'),
      });
    execFileSync('rm', ['-r', join(root, 'docs')]);
  });

  test('drops a masked file that was changed, moved or made readable', async () => {
    const root = scratch({ 'src/.env': 'SECRET', 'src/sub/b.pem': 'SECRET', 'src/c.pem': 'SECRET' });
    const { result } = await shell(
      root,
      `cat src/.env src/sub/b.pem; rm -f src/.env; echo mine > src/.env; chmod 777 src/c.pem; mv src/sub src/moved; cat src/.env src/moved/*`,
    );
    expect(result).toMatchObject({ exit: 0, stdout: 'mine\n', stderr: '' });
    expect([read(root, 'src/.env'), read(root, 'src/sub/b.pem')]).toEqual(['SECRET', 'SECRET']);
    expect(lstatSync(join(root, 'src/c.pem')).mode & 0o777).toBe(0o644);
    for (const path of ['src/.env', 'src/c.pem', 'src/moved/b.pem', 'src/sub/b.pem'])
      expect(why(result, path), path).toMatch(/masked/);
  });

  test('drops changes of git’s own folder and other files that control tools', async () => {
    const root = scratch({ 'src/a': 'a', '.git/config': 'c', '.git/hooks/x': 'x', 'src/.vscode/tasks.json': '{}' });
    const { result } = await shell(
      root,
      'echo evil > .git/hooks/pre-commit; echo evil > .git/config; echo evil > src/.vscode/tasks.json; mkdir -p src/n/.git/hooks; echo evil > src/n/.git/hooks/h; echo x > src/.npmrc; echo x > hopgate.yaml',
    );
    expect(result.stderr.match(/Read-only file system|Permission denied/g)).toHaveLength(3);
    expect(read(root, '.git/config')).toBe('c');
    expect(read(root, 'src/.vscode/tasks.json')).toBe('{}');
    expect(existsSync(join(root, 'src/n/.git'))).toBe(false);
    expect(existsSync(join(root, 'src/.npmrc'))).toBe(false);
    expect(existsSync(join(root, 'hopgate.yaml'))).toBe(false);
    expect(why(result, 'src/n/.git')).toMatch(/controls git/);
  });

  test('keeps weakened tests and names them', async () => {
    const root = scratch({ 'src/package.json': '{"scripts":{"test":"vitest run"}}', 'src/a.test.ts': "it('a', x);" });
    const { result, effects } = await shell(
      root,
      `echo '{"scripts":{"test":"true"}}' > src/package.json; rm src/a.test.ts`,
    );
    const script =
      'the script "test" was changed from "vitest run" to "true"; a package manager runs the commands in this file';
    expect(result.findings).toEqual([
      { path: 'src/a.test.ts', why: 'the file was deleted, with 1 test' },
      { path: 'src/package.json', why: script },
    ]);
    expect(effects).toContainEqual(expect.objectContaining({ path: 'src/package.json', finding: script }));
  });

  test('drops instructions that import a masked file', async () => {
    const root = scratch({ 'src/a': 'a', '.env': 'KEY=1' });
    const { result } = await shell(root, 'printf "See @../.%s" env > src/CLAUDE.md; echo "@a" > src/AGENTS.md');
    expect(existsSync(join(root, 'src/CLAUDE.md'))).toBe(false);
    expect(why(result, 'src/CLAUDE.md')).toBe('it imports "@../.env", which is masked');
    expect(read(root, 'src/AGENTS.md')).toBe('@a\n');
  });

  test('drops new files with a masked name', async () => {
    const root = scratch({ 'src/a': 'a' });
    const { result } = await shell(root, 'echo x > src/new.pem');
    expect(existsSync(join(root, 'src/new.pem'))).toBe(false);
    expect(why(result, 'src/new.pem')).toMatch(/masked/);
  });

  test.runIf(isDeep)(
    'keeps links within the scope, and judges a write through a link by the link’s target',
    async () => {
      const root = scratch({ 'src/a': 'a', 'src/v1/x': 'x', 'src/old': 'o', 'docs/b.md': 'b', 'package.json': '{}' });
      symlinkSync('gone', join(root, 'src/was'));
      const kept = await shell(
        root,
        'cd src; ln -s a in; ln -s ./v1/ latest; ln -s ../docs/b.md guide; ln -s later dangling; ln -sfn a was; ln -sf a old; mkdir -p n/m && ln -s ../../a n/m/up',
      );
      expect(kept.result).toMatchObject({ exit: 0, dropped: [] });
      const at = (path: string) => readlinkSync(join(root, 'src', path));
      expect(['in', 'latest', 'guide', 'dangling', 'was', 'old', 'n/m/up'].map(at)).toEqual([
        'a',
        './v1/',
        '../docs/b.md',
        'later',
        'a',
        'a',
        '../../a',
      ]);
      expect(kept.effects).toContainEqual({
        path: 'src/in',
        op: 'link',
        after: sha('a'),
        finding: 'it is a link to a',
      });
      const through = await shell(root, 'echo new > src/guide; echo y > src/latest/y; ln -sf a src/in');
      expect(through.result.dropped).toEqual([]);
      expect([read(root, 'docs/b.md'), read(root, 'src/v1/y')]).toEqual(['new\n', 'y\n']);
      expect(lstatSync(join(root, 'src/guide')).isSymbolicLink()).toBe(true);
    },
  );

  const LINKS = [
    ['/etc/passwd', 'src/x'],
    ['../package.json', 'src/x'],
    ['../../outside', 'src/x'],
    ['v1/../../package.json', 'src/x'],
    ['..', 'src/x'],
    ['../.git/config', 'src/x'],
    ['.env', 'src/x'],
    ['.npmrc', 'src/x'],
    ['a', 'src/.hidden'],
    ['a', 'src/CLAUDE.md'],
    ['a', 'src/key.pem'],
    ['src/a', 'x'],
  ] as const;
  test.each(sample(LINKS, 4))('drops a link to %s at %s', async (target, path) => {
    const root = scratch({ 'src/a': 'a', 'src/v1/x': 'x', 'package.json': '{}', '.git/config': '' });
    const { result, effects } = await shell(root, `ln -s ${target} ${path}`);
    expect(why(result, path)).toBeDefined();
    expect(lstatSync(join(root, path), { throwIfNoEntry: false })).toBeUndefined();
    expect(effects).toEqual([]);
  });

  test('drops links out of the scope, FIFOs, sockets and hard links', async () => {
    const root = scratch({ 'src/a': 'a' });
    const { result } = await shell(
      root,
      `ln -s /etc/passwd src/out; mkfifo src/fifo; ln src/a src/hard; ln -s /tmp src/folder; mkdir src/ok; echo 1 > src/ok/f`,
    );
    expect(readdirSync(join(root, 'src')).sort()).toEqual(['a', 'ok']);
    for (const path of ['src/out', 'src/fifo', 'src/hard', 'src/folder']) expect(why(result, path), path).toBeDefined();
  });

  test('drops a write through an existing link', async () => {
    const root = scratch({ 'src/a': 'a', 'package.json': '{}' });
    symlinkSync('../package.json', join(root, 'src/link'));
    mkdirSync(join(root, 'lib'));
    symlinkSync('../lib', join(root, 'src/lib'));
    const { result } = await shell(root, 'echo bad > src/link; echo bad > src/lib/x');
    expect(read(root, 'package.json')).toBe('{}');
    expect(readdirSync(join(root, 'lib'))).toEqual([]);
    expect(result.dropped.map((drop: { path: string }) => drop.path)).toEqual(['lib/x', 'package.json']);
  });

  test('drops a write through an existing hard link', async () => {
    const outside = scratch({ victim: 'v' });
    const root = scratch({ 'src/a': 'a' });
    linkSync(join(outside, 'victim'), join(root, 'src/hard'));
    const { result } = await shell(root, 'echo bad > src/hard');
    expect(read(outside, 'victim')).toBe('v');
    expect(why(result, 'src/hard')).toMatch(/hard links/);
  });

  test('drops setuid files, including existing ones', async () => {
    const root = scratch({ 'src/suid': 'x' });
    chmodSync(join(root, 'src/suid'), 0o4755);
    const { result } = await shell(
      root,
      'cp /usr/bin/id src/id && chmod u+s src/id; touch src/suid; chmod 755 src/suid; true',
    );
    expect(lstatSync(join(root, 'src/id')).mode & 0o6000).toBe(0);
    expect(result.stderr).toMatch(/Operation not permitted/);
  });

  test('drops every change of a killed command', async () => {
    const root = scratch({ 'src/a': 'a' });
    const { result, effects } = await ok(
      root,
      'bash',
      { command: 'echo bad > src/a; echo bad > src/b; sleep 60' },
      { seconds: 1 },
    );
    expect(result).toMatchObject({ timedOut: true, changed: [] });
    expect(effects).toEqual([]);
    expect(read(root, 'src/a')).toBe('a');
  });

  test('drops every change if another writer took the session over during the command', async () => {
    const root = scratch({ 'src/a': 'a' });
    const assertLease = () => Promise.reject(new Error('taken over'));
    const call = { ...toolCall(root, 'bash', { command: 'echo late > src/a; exit 3' }), assertLease };
    await expect(shellBackend(await sandbox()).run(call)).rejects.toThrow('taken over');
    expect(read(root, 'src/a')).toBe('a');
  });

  test('drops a change of a file that another program changed meanwhile', async () => {
    const root = scratch({ 'src/a': 'a' });
    const mark = `5${process.pid}`;
    const running = shell(root, `echo agent > src/a; sleep ${mark}; true`);
    while (sleepers(mark).length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    writeFileSync(join(root, 'src/a'), 'person');
    for (const pid of sleepers(mark)) process.kill(pid);
    const { result } = await running;
    expect(read(root, 'src/a')).toBe('person');
    expect(why(result, 'src/a')).toMatch(/someone else/);
  });
});
