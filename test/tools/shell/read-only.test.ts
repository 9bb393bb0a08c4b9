import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { makeCommandReport } from '../../../src/tools/shell/command-report.ts';
import { isDeep, sample } from '../../depth.ts';
import { ok, run, scratch, sleepers } from './support.ts';

const shell = (root: string, command: string) => ok(root, 'bash-readonly', { command });

describe('bash-readonly', () => {
  const COMMANDS = [
    ['pipes', 'printf "b\\na\\n" | sort | head -1', 'a\n'],
    ['2>&1', 'cat missing 2>&1 | grep -c No', '1\n'],
    ['quoting', `echo 'it'"'"'s "fine"' "$((1+2))"`, 'it\'s "fine" 3\n'],
    ['loops and substitution', 'for f in $(ls src); do echo "<$f>"; done', '<b.txt>\n<ä.txt>\n'],
    ['spaces and unicode in names', 'cat "dir with space/ünïcode.txt"', 'grüße\n'],
    ['here documents', 'cat <<EOF\nx\nEOF', 'x\n'],
    ['process substitution', 'diff <(echo 1) <(echo 1) && echo same', 'same\n'],
    ['temporary files', 'f=$(mktemp) && echo t > "$f" && cat "$f"', 't\n'],
    ['a home folder', 'echo x > ~/x && cat ~/x', 'x\n'],
    [
      'node with a child process',
      `node -e 'console.log(require("child_process").execSync("echo hi").toString().trim())'`,
      'hi\n',
    ],
    [
      'servers of its own on loopback',
      `node -e 'const s=require("net").createServer(c=>c.end("pong")).listen(0,"localhost",()=>require("net").connect(s.address().port,"localhost").on("data",d=>{console.log(""+d);s.close()}))'`,
      'pong\n',
    ],
  ] as const;

  test.each(sample(COMMANDS, 4))('runs commands with %s', async (_name, command, stdout) => {
    const root = scratch({ 'src/ä.txt': '1', 'src/b.txt': '2', 'dir with space/ünïcode.txt': 'grüße\n' });
    const { result, effects } = await shell(root, command);
    expect(result).toMatchObject({ exit: 0, stdout, truncated: false, timedOut: false });
    expect(effects).toEqual([]);
  });

  test('names a program that only the operator has, with the setting that shows it', async () => {
    const [root, bin] = [scratch(), scratch({ 'mine-only': '#!/bin/sh\n' })];
    chmodSync(join(bin, 'mine-only'), 0o755);
    vi.stubEnv('PATH', `${process.env['PATH']}:${bin}`);
    onTestFinished(() => void vi.unstubAllEnvs());
    expect((await shell(root, 'mine-only')).result).toMatchObject({
      exit: 127,
      notShown: expect.stringMatching(/^mine-only is a program of the operator.*programs: in hopgate\.yaml/),
    });
    expect((await shell(root, 'nobodys-program')).result).not.toHaveProperty('notShown');
  });

  test('names the setting with which git works in a repository with a separate git folder', async () => {
    const [root, outside] = [scratch(), scratch()];
    execFileSync('git', ['init', '-q', '--separate-git-dir', join(outside, 'git'), root]);
    expect((await shell(root, 'git status')).result).toMatchObject({
      exit: 128,
      notShown: expect.stringContaining(`run "git config core.worktree ${root}" in ${outside}/git`),
    });
    execFileSync('git', ['config', 'core.worktree', root], { cwd: join(outside, 'git') });
    expect((await shell(root, 'git status')).result).toMatchObject({ exit: 0 });
  });

  test.runIf(isDeep)('explains how to install if pnpm lacks its store', async () => {
    const command = 'echo "ERR_PNPM_UNEXPECTED_STORE  Unexpected store location"; exit 1';
    expect((await shell(scratch(), command)).result).toMatchObject({
      notShown: expect.stringMatching(/^pnpm's store.*not shown here\. .*install: in hopgate\.yaml/),
    });
    expect((await shell(scratch(), 'echo pnpm; exit 1')).result).not.toHaveProperty('notShown');
  });

  test.runIf(isDeep)('names a package that is a link out of the repository, with the remedy', async () => {
    const [root, outside] = [scratch({ 'a.mjs': 'import "@my/lib";' }), scratch({ 'index.js': '' })];
    mkdirSync(join(root, 'node_modules/@my'), { recursive: true });
    symlinkSync(outside, join(root, 'node_modules/@my/lib'));
    expect((await shell(root, 'node a.mjs')).result).toMatchObject({
      exit: 1,
      linkedOutside: expect.stringMatching(/^node_modules\/@my\/lib leads to .*--install-links.*toolchains/),
    });
    expect((await shell(root, 'echo other; exit 1')).result).not.toHaveProperty('linkedOutside');
  });

  test.runIf(isDeep)('runs git log and other reads of the history', async () => {
    const root = scratch({ 'a.txt': 'a' });
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: root });
    git('init', '-q');
    git('add', '.');
    git('commit', '-qm', 'first commit');
    writeFileSync(join(root, 'a.txt'), 'b');
    const { result } = await shell(root, 'git log --format=%s && git diff --stat && git status --short');
    expect(result).toMatchObject({ exit: 0 });
    expect(result.stdout).toContain('first commit');
    expect(result.stdout).toContain(' M a.txt');
  });

  test.runIf(isDeep)('adds the remedy if a program prints that it has no network, and exits with 0', async () => {
    expect((await shell(scratch(), 'curl -sS http://example.com/ || true')).result).toMatchObject({
      exit: 0,
      noNetwork: expect.stringContaining('no network'),
    });
    const cargo =
      'curl -sS http://example.com/ || echo "error: failed to get \\`itoa\\` as a dependency of x" >&2; exit 101';
    const without = expect.stringContaining('the operator can write it with "cargo fetch"');
    expect((await shell(scratch(), cargo)).result).toMatchObject({ noNetwork: without });
    expect((await shell(scratch({ 'Cargo.lock': '' }), cargo)).result).not.toMatchObject({ noNetwork: without });
    expect((await shell(scratch(), 'curl -sS http://example.com/ 2> /dev/null || true')).result).not.toHaveProperty(
      'noNetwork',
    );
  });

  test.runIf(isDeep)('makes npm fail at once without a network, also if npm runs within pnpm', async () => {
    const line = 'npm_config_fetch_retries= npm config ls -l | grep -E "^fetch-retry-m(in|ax)timeout"';
    const { result } = await shell(scratch(), line);
    expect(result.stdout).toMatch(/fetch-retry-maxtimeout = 1\b[\s\S]*fetch-retry-mintimeout = 1\b/);
  });

  test.runIf(isDeep)('runs the installed pnpm without a network, whatever version package.json names', async () => {
    const { result } = await shell(scratch(), 'cat ~/.config/pnpm/rc; echo "$pnpm_config_pm_on_fail"');
    expect(result.stdout).toBe('manage-package-manager-versions=false\nignore\n');
  });

  test.runIf(isDeep)('has a home folder in which Java finds its preferences', async () => {
    const { result } = await shell(scratch(), 'stat -c %a ~/.java/.userPrefs && touch ~/.java/.userPrefs/x');
    expect(result).toMatchObject({ exit: 0, stdout: '700\n' });
  });

  test('returns a failure with its exit status', async () => {
    const { result } = await shell(scratch(), 'echo out; echo err >&2; exit 3');
    expect(result).toMatchObject({ exit: 3, stdout: 'out\n', stderr: 'err\n' });
  });
});

describe('a change of the tree by bash-readonly', () => {
  const git = (root: string, ...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: root });

  const CHANGES = [
    ['a new file', 'echo x > new && cat new', ['new']],
    ['a changed file', 'echo x > src/a', ['src/a']],
    ['a file changed by sort -o', 'sort -ro src/a src/a', ['src/a']],
    ['a file changed by sed -i', 'sed -i s/b/c/ src/a', ['src/a']],
    ['a file written by sed w', `sed -n 'w src/new' src/a`, ['src/new']],
    ['a deleted folder', 'rm -rf src', ['src']],
    ['a link', 'ln -s src/a link', ['link']],
    ['a new folder, once', 'mkdir -p new/deep && touch new/deep/x new/y', ['new']],
    ['changed permissions', 'chmod 700 src', ['src']],
    ['a changed executable bit', 'chmod +x src/a', ['src/a']],
    ['nothing of what git ignores', 'mkdir -p dist out && echo x > dist/a', []],
    ['nothing of caches', 'mkdir -p .mypy_cache src/__pycache__ && touch .eslintcache a.tsbuildinfo', []],
    ['nothing of a file that was rewritten unchanged', 'cp src/a b && mv b src/a', []],
    ['nothing of the home folder', 'mkdir ~/.cache && touch ~/.cache/x /tmp/y', []],
  ] as const;

  test.each(sample(CHANGES, 14))('is discarded and reported: %s', async (_name, command, dropped) => {
    const root = scratch({ 'src/a': 'a\nb\n', '.gitignore': 'dist\nout/\n' });
    git(root, 'init', '-q');
    git(root, 'add', '.');
    const before = tree(root);
    const { result, effects } = await shell(root, command);
    expect(result.exit, result.stderr).toBe(0);
    expect((result.dropped ?? []).map(({ path }: { path: string }) => path)).toEqual(dropped);
    // The warning comes first, before the exit status.
    expect(Object.keys(result)[0] === 'warning').toBe(dropped.length > 0);
    if (dropped.length > 0) expect(result.warning).toContain(`Not kept: ${dropped[0]}`);
    expect(effects).toEqual([]);
    expect(tree(root)).toBe(before);
    expect((await shell(root, 'ls new dist .eslintcache 2>/dev/null')).result.stdout).toBe('');
  });
});

test('an overlay also works if hopgate was started in the root', async () => {
  const root = scratch({ a: 'a' });
  const cwd = process.cwd;
  process.cwd = () => root;
  onTestFinished(() => {
    process.cwd = cwd;
  });
  expect((await shell(root, 'echo b > a')).result.dropped).toHaveLength(1);
});

describe('a command of bash-readonly', () => {
  const FORBIDDEN = [
    ['writing git hooks', 'echo x > .git/hooks/pre-commit || rm -rf .git'],
    ['remounting', 'mount -o remount,rw,bind / || mount -t tmpfs x src'],
    ['making a nested user namespace', 'unshare -Urm mount -t tmpfs x src'],
    ['following links out of the tree', 'cat outside'],
    ['reading the host’s secrets', 'cat /etc/shadow || ls /root/.ssh || cat /root/.bashrc'],
    ['writing kernel settings', '(: >> /proc/sys/kernel/core_pattern) || (: >> /proc/sysrq-trigger)'],
    ['setting setuid bits', 'cp /usr/bin/id /tmp/id && chmod 4755 /tmp/id'],
    ['setting setuid bits through install', 'install -m 4755 /usr/bin/id /tmp/id'],
    ['making device nodes', 'mknod /tmp/d b 254 0'],
    ['tracing', `python3 -c 'import ctypes,sys; sys.exit(0 if ctypes.CDLL(None).ptrace(0,0,0,0)==0 else 1)'`],
  ] as const;

  test.each(sample(FORBIDDEN, 2))('is prevented from %s', async (_name, command) => {
    const root = scratch({ 'src/a': 'a\n', '.git/hooks/.keep': '' });
    symlinkSync('/etc/shadow', join(root, 'outside'));
    const before = tree(root);
    const { result } = await shell(root, command);
    expect(result.exit).not.toBe(0);
    expect(tree(root)).toBe(before);
  });

  test('sees no masked content, also through links and in folders', async () => {
    const root = scratch({
      '.env': 'SECRET1',
      'deploy/key.pem': 'SECRET2',
      'a/.ENV': 'SECRET3',
      '.git/config': '[remote "o"]\n url = https://SECRET4@example.com\n',
      'secrets/x': 'SECRET5',
      'plain.txt': 'SECRET6',
    });
    symlinkSync('.env', join(root, 'alias'));
    symlinkSync('plain.txt', join(root, 'b.pem'));
    const { result } = await ok(
      root,
      'bash-readonly',
      { command: 'grep -rs SECRET . ; cat alias secrets/* b.pem; echo done' },
      { config: { mask: ['.env', '**/*.pem', 'secrets/'] } },
    );
    expect(result.stdout).toBe('done\n');
  });

  test('is not disturbed by broken or external links with masked names', async () => {
    const root = scratch({ a: 'a' });
    symlinkSync('missing', join(root, '.env'));
    symlinkSync('/etc/hostname', join(root, 'x.pem'));
    symlinkSync('../outside', join(root, '.netrc'));
    expect((await shell(root, 'cat a')).result).toMatchObject({ exit: 0, stdout: 'a' });
  });

  test('has no access to the network and the host’s unix sockets', async () => {
    const root = scratch();
    const connections: string[] = [];
    const listen = async (where: object | string, name: string) => {
      const server = createServer((socket) => {
        connections.push(name);
        socket.end();
      });
      await new Promise<void>((resolve) => server.listen(where as never, resolve));
      onTestFinished(() => void server.close());
      return server;
    };
    const tcp = await listen({ port: 0, host: '127.0.0.1' }, 'tcp');
    await listen(join(root, 'socket'), 'unix');
    const { port } = tcp.address() as { port: number };
    const connect = (to: string) =>
      `node -e 'require("net").connect(${to}).on("connect",()=>process.exit(0)).on("error",e=>{console.log(e.code);process.exit(1)})'`;
    const { result } = await shell(root, `${connect(`${port},"127.0.0.1"`)}; ${connect(`"${root}/socket"`)}`);
    expect(result.stdout).toBe('ECONNREFUSED\nECONNREFUSED\n');
    expect(connections).toEqual([]);
  });

  test('does not see hopgate’s processes and environment', async () => {
    process.env['HOPGATE_TEST_SECRET'] = 'SECRET';
    onTestFinished(() => void delete process.env['HOPGATE_TEST_SECRET']);
    const { result } = await shell(
      scratch(),
      `env; ls /proc | grep -c '^[0-9]'; kill -9 ${process.pid}; echo "kill $?"; ls -l /proc/self/fd`,
    );
    expect(result.stdout).not.toContain('SECRET');
    expect(result.stdout).toContain('kill 1');
    expect(Number(/^(\d+)$/m.exec(result.stdout)?.[1])).toBeLessThan(6);
    // its output goes to pipes in a folder that it cannot read
    expect(result.stdout).not.toMatch(/ -> \/(?!dev\/null|proc\/|\S+\/run-\w+\/std)/);
  });
});

describe('the limits of bash-readonly', () => {
  test('end a command with all its processes at its time limit', async () => {
    const mark = `7${Date.now()}`.slice(0, 12);
    const { result } = await ok(
      scratch(),
      'bash-readonly',
      {
        command: `trap '' TERM INT HUP; setsid sleep ${mark} & (setsid nohup sleep ${mark} &) ; echo started; sleep ${mark}`,
      },
      { seconds: 1 },
    );
    // On a busy machine the time may pass before the command has begun.
    expect(result).toMatchObject({ exit: null, timedOut: true, stdout: expect.stringMatching(/^(started\n)?$/) });
    expect(sleepers(mark)).toEqual([]);
  });

  test.each([
    ['PASS  Waiting for file changes...\n', true, /CI=1/],
    ['[12:00:00 AM] Found 0 errors. Watching for file changes.\n', true, /CI=1/],
    ['PASS  Waiting for file changes...\n', false, null],
    ['compiling\n', true, null],
  ])(
    'give a remedy if the output says that the command watches files: %j, ended by the time limit: %s',
    (stdout, timedOut, remedy) => {
      const context = { sandboxed: false, emptyFiles: new Set(), call: { envelope: { config: {} } } };
      const ran = { exit: null, signal: null, stdout, stderr: '', truncated: false, timedOut, aborted: false };
      const { outcome } = makeCommandReport(context as never, { ...ran, flooded: false, seconds: 1 }, []);
      const result = (outcome as { readonly result: { readonly [key: string]: unknown } }).result;
      if (remedy) expect(result['remedy']).toMatch(remedy);
      else expect(result).not.toHaveProperty('remedy');
    },
  );

  test.each([
    ['sh: 1: ava: not found', true],
    ['bash: line 1: ava: command not found', true],
    ["Error: Cannot find package 'ava' imported from /a.js", true],
    ['sh: 1: ./node_modules/.bin/ava: No such file or directory', true],
    ['PHP Warning: require(vendor/autoload.php): Failed to open stream: No such file or directory in /a.php', true],
    ['PHP Fatal error: Uncaught Error: Class "PHPUnit" not found in /a.php:1', true],
    ["mv: cannot stat 'none.js': No such file or directory", false],
    ['user 7 not found in the list', false],
    [`class ${'a'.repeat(1000)} not found`, false],
    [`node_modules/${'a'.repeat(1000)} no such file`, false],
  ])('name missing packages only after a message about a program or package: %s', (stderr, isNamed) => {
    const root = scratch({ 'package.json': '{"devDependencies":{"ava":"1"}}' });
    expect(JSON.stringify(failedWith(stderr, root)).includes('node_modules is missing')).toBe(isNamed);
  });

  test.each([
    ["ModuleNotFoundError: No module named 'yaml.nodes'", 'yaml.nodes'],
    ['/usr/bin/python3: No module named pytest', 'pytest'],
    ["Error [ERR_MODULE_NOT_FOUND]: Cannot find package '@scope/it' imported from /a.js", '@scope/it'],
    ['cannot load such file -- rspec/core (LoadError)', 'rspec/core'],
    ['a.go:3:8: no required module provides package github.com/x/y; to add it:', 'github.com/x/y'],
    ["Can't locate Try/Tiny.pm in @INC", 'Try/Tiny'],
    ["No module named 'fast'\nDuring handling of it: No module named 'slow'", 'slow'],
    ["No module named 'mine'", null],
    ["No module named 'kept.more'", null],
    ["Error: Cannot find module './gone.js'", null],
    ["Cannot find module '@/alias' or its corresponding type declarations.", null],
    ["Error: Cannot find module '/a/gone.js'", null],
  ])('name an import that was not found, unless the repository has it: %s', (stderr, name) => {
    const root = scratch({ 'mine.py': '', 'src/kept/__init__.py': '' });
    const notShown = `The command did not find ${name}, and the repository has no module of that name. Ask the operator to install what is missing, or to set install: in hopgate.yaml.`;
    const { result } = failedWith(stderr, root) as { result: object };
    if (name === null) expect(result).not.toHaveProperty('notShown');
    else expect(result).toMatchObject({ notShown });
  });

  test('end background processes at the end of the command', async () => {
    const mark = `8${Date.now()}`.slice(0, 12);
    const { result } = await shell(
      scratch(),
      `setsid sleep ${mark} >/dev/null 2>&1 & setsid sleep ${mark} & echo done`,
    );
    expect(result).toMatchObject({ exit: 0, timedOut: false, stdout: 'done\n' });
    expect(sleepers(mark)).toEqual([]);
  });

  test('end a command whose caller aborts', async () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 200);
    const { outcome } = await run(scratch(), 'bash-readonly', { command: 'sleep 60' }, { signal: controller.signal });
    expect(outcome).toMatchObject({ status: 'failed', code: 'aborted' });
  });

  test.runIf(isDeep)('stop a fork bomb by the number of processes', async () => {
    const { result } = await ok(
      scratch(),
      'bash-readonly',
      { command: 'b() { b | b & }; b; sleep 60' },
      { seconds: 2 },
    );
    expect(result.exit === null || result.exit > 0).toBe(true);
    expect((await shell(scratch(), 'echo alive')).result.stdout).toBe('alive\n');
  });

  test('cut a long output to its head and tail in whole characters', async () => {
    const { result } = await ok(
      scratch(),
      'bash-readonly',
      { command: `echo FIRST; yes ä | head -c 3000000; echo LAST` },
      { outputBytes: 1001 },
    );
    expect(result).toMatchObject({ exit: 0, truncated: true });
    expect(result.stdout).toMatch(/^FIRST\n[\s\S]*bytes left out[\s\S]*LAST\n$/);
    expect(result.stdout).not.toContain('\uFFFD');
    expect(Buffer.byteLength(result.stdout)).toBeLessThan(1100);
  });

  test.runIf(isDeep)('cut endless output', async () => {
    const { result } = await ok(scratch(), 'bash-readonly', { command: 'yes' }, { outputBytes: 1000 });
    expect(result).toMatchObject({ exit: null, timedOut: false, flooded: true, truncated: true });
  });
});

test.each([[''], ['  '], ['a\0b'], [42], [undefined]])('bash-readonly refuses the command %j', async (command) => {
  const { outcome } = await run(scratch(), 'bash-readonly', { command: command as string });
  expect(outcome).toMatchObject({ status: 'refused', code: 'invalid-action', argument: 'command' });
});

/** Every name and content, so that any change shows. */
/** The outcome of a command that failed in `root` with this text on stderr. */
function failedWith(stderr: string, root: string): object {
  const context = { sandboxed: false, emptyFiles: new Set(), call: { envelope: { root, config: {} } } };
  const ran = { exit: 1, signal: null, stdout: '', stderr, truncated: false, timedOut: false, aborted: false };
  return makeCommandReport(context as never, { ...ran, flooded: false, seconds: 1 }, []).outcome;
}

function tree(root: string): string {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return `${path} ${entry.isFile() ? readFileSync(path, 'latin1') : ''}`;
    })
    .sort()
    .join('\n');
}

const BY_PATH = [
  ['echo a > /dev/stdout; echo b > /dev/stderr', 'a\n', 'b\n'],
  ['echo a | tee /dev/stderr', 'a\n', 'a\n'],
  ['echo a >> /proc/self/fd/1; echo b >&2', 'a\n', 'b\n'],
  ['seq 3 | tee /dev/stderr | tail -1', '3\n', '1\n2\n3\n'],
  ['exec 2>&1; echo a > /dev/stderr; echo b', 'a\nb\n', ''],
] as const;
test.each(sample(BY_PATH, 5))('a command can open its output by path: %s', async (command, stdout, stderr) => {
  const { result } = await ok(scratch({}), 'bash-readonly', { command });
  expect(result).toMatchObject({ exit: 0, stdout, stderr });
});

test.runIf(isDeep)('bash-readonly leaves no descriptor open', async () => {
  const root = scratch({});
  const open = () => readdirSync('/proc/self/fd').length;
  const many = () =>
    Promise.all(Array.from({ length: 20 }, () => ok(root, 'bash-readonly', { command: 'echo x; echo y >&2' })));
  // The first command makes the parts that later commands reuse.
  await many();
  const before = open();
  await many();
  await many();
  // Streams close a moment after their command; a leaked one would stay open.
  await expect.poll(open).toBeLessThanOrEqual(before + 2);
});

// Elsewhere, late-masked-files.test.ts and background.test.ts try one such change.
describe.runIf(isDeep)('a masked file that another program changes during a command', () => {
  const CONFIG = '[remote "o"]\n\turl = https://me:SECRET-NEW@example.com/\n';
  const replacing = async (tool: string, replaced: string, withWhat: string) => {
    const base = scratch({ 'main/a': '' });
    const git = (...words: string[]) =>
      execFileSync('git', ['-c', 'user.name=o', '-c', 'user.email=o@e.x', ...words], { cwd: join(base, 'main') });
    git('init', '-q');
    git('commit', '-q', '--allow-empty', '-m', 'first');
    git('worktree', 'add', '-q', '../linked');
    const root = join(base, replaced.startsWith('..') ? 'linked' : 'main');
    mkdirSync(join(root, 'src'));
    writeFileSync(join(root, 'src/.env'), 'SECRET-old');
    // The command sleeps until the file is replaced and the sleep is killed; then it reads the file.
    const mark = `9${Date.now()}`.slice(0, 12);
    const command = `sleep ${mark}; cat ${replaced}; cat ${replaced} > src/b`;
    const running = run(root, tool, { command });
    await expect.poll(() => sleepers(mark)).toHaveLength(1);
    writeFileSync(join(root, 'new'), withWhat);
    if (withWhat.endsWith('\n')) renameSync(join(root, 'new'), join(root, replaced));
    else writeFileSync(join(root, replaced), withWhat);
    for (const pid of sleepers(mark)) process.kill(pid, 'SIGKILL');
    return { root, ...(await running) };
  };

  test.each([
    ['bash', 'src/new.pem', 'SECRET-NEW\n'],
    ['bash-readonly', 'src/new.pem', 'SECRET-NEW'],
  ])('ends %s without output and changes if it appears as %s', async (tool, path, text) => {
    const { root, outcome, effects } = await replacing(tool, path, text);
    expect(outcome).toMatchObject({ status: 'failed', code: 'masked-file-uncovered' });
    expect(JSON.stringify(outcome)).not.toContain('SECRET');
    expect(effects).toEqual([]);
    expect(existsSync(join(root, 'src/b'))).toBe(false);
  });

  const REPLACED = [
    ['bash-readonly', 'src/.env', 'SECRET-NEW'],
    ['bash-readonly', 'src/.env', 'SECRET-NEW\n'],
    ['bash', 'src/.env', 'SECRET-NEW\n'],
    ['bash-readonly', '.git/config', CONFIG],
    ['bash', '.git/config', CONFIG],
    ['bash', '../main/.git/config', CONFIG],
    ['bash-readonly', '../main/.git/config', CONFIG],
  ] as const;
  test.each(REPLACED)('stays hidden from %s with its new content: %s', async (tool, path, text) => {
    const { outcome } = await replacing(tool, path, text);
    expect(outcome).toMatchObject({ status: 'ok', result: { timedOut: false } });
    expect(JSON.stringify(outcome)).not.toContain('SECRET');
  });
});

test.runIf(isDeep)('a masked file is covered, whichever of its links a command uses', async () => {
  const root = scratch({ 'conf/real': 'SECRET', 'conf/deep/x': 'SECRET', 'src/.env': 'SECRET', 'src/a': 'a' });
  for (const [link, to] of [
    ['conf.pem', 'conf'],
    ['.env', 'conf/real'],
    ['x.pem', 'conf/deep'],
    ['y.pem', 'src/.env'],
  ] as const)
    symlinkSync(to, join(root, link));
  for (const tool of ['bash-readonly', 'bash'])
    expect((await ok(root, tool, { command: 'cat conf/* conf/deep/x .env y.pem src/*' })).result.stdout).toBe('a');
});
