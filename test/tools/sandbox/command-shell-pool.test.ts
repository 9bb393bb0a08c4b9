import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { processStartTime } from '../../../src/base/process-holder.ts';
import { commandMessage, type SandboxHostFacts } from '../../../src/tools/sandbox/command-message.ts';
import { type CommandShells, makeCommandShells } from '../../../src/tools/sandbox/command-shell-pool.ts';
import { detectSandbox } from '../../../src/tools/sandbox/detect-sandbox.ts';
import { probeCgroups } from '../../../src/tools/sandbox/limits/cgroup.ts';
import { addMountsToLayout, makeBaseLayout, type SandboxLayout } from '../../../src/tools/sandbox/mounts/layout.ts';
import { makeSupportFiles } from '../../../src/tools/sandbox/mounts/support-files.ts';
import { type Sandbox, SandboxError } from '../../../src/tools/sandbox/sandbox.ts';
import { depth, isDeep } from '../../depth.ts';

const ENGINE = join(import.meta.dirname, '../shell/engine.ts');
const asRoot = process.getuid?.() === 0;

let host: SandboxHostFacts;
let shells: CommandShells;
let sandbox: Sandbox;
beforeAll(async () => {
  const self = { uid: process.getuid!(), gid: process.getgid!() };
  host = { bwrap: '/usr/bin/bwrap', supportFiles: makeSupportFiles(), self, limitsMemory: false };
  shells = makeCommandShells(host, asRoot ? probeCgroups() : null);
  sandbox = await detectSandbox();
});

/** A layout in which the root can be written, so that whatever runs can leave a mark. */
function open(): SandboxLayout {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'hopgate-test-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  return addMountsToLayout(makeBaseLayout('x', { root }), [{ kind: 'writable', source: root, target: root }]);
}

const options = { seconds: 60, outputBytes: 1 << 20, signal: new AbortController().signal };
const POLL = { interval: 1, timeout: 20_000 };
const COMMAND = { env: {}, cpuSeconds: 60 };

describe('a reused command shell', () => {
  test('serves the next command with the same layout, and no other', async () => {
    const layout = open();
    const pid = (of: SandboxLayout) => shells.use(of, null, async (shell) => shell.process.pid);
    const first = await pid(layout);
    expect(await pid({ ...layout, name: 'y', mounts: [] })).toBe(first);
    expect(await pid({ ...layout, network: true })).not.toBe(first);
    expect(await pid({ ...layout, unixSockets: true })).not.toBe(first);
    expect(await pid({ ...layout, limits: { ...layout.limits, processes: 77 } })).not.toBe(first);
    expect(await pid(layout)).toBe(first);
  });

  test('runs one command at a time', async () => {
    const layout = open();
    const pids = await Promise.all(
      [1, 2, 3].map(() =>
        shells.use(layout, null, async (shell) => {
          await new Promise((resolve) => setImmediate(resolve));
          return shell.process.pid;
        }),
      ),
    );
    expect(new Set(pids).size).toBe(3);
  });

  test('is not used again after it was killed', async () => {
    const layout = open();
    const first = await shells.use(layout, null, async (shell) => {
      shell.kill();
      return shell.process.pid;
    });
    expect(await shells.use(layout, null, async (shell) => shell.process.pid)).not.toBe(first);
  });

  test.runIf(asRoot)('joins its control groups before it receives a command', async () => {
    if (probeCgroups() === null) return;
    const layout = open();
    await shells.use({ ...layout, limits: { ...layout.limits, processes: 55 } }, null, async (shell) => {
      expect(readFileSync(`/proc/${shell.process.pid}/cgroup`, 'utf8')).toContain(`/hopgate-${process.pid}-`);
    });
  });

  test('starts no command if hopgate has ended at any stage of the start', async () => {
    const layout = open();
    const message = commandMessage(host, layout, ['touch', join(layout.root, 'mark')], COMMAND);
    await shells.use(layout, null, async (shell) => {
      const { stdout, stderr, status, ended } = shell.run(message, undefined, []);
      const closed = [stdout, stderr, status].map((stream) => once(stream.resume(), 'close'));
      shell.process.stdin!.end();
      await Promise.all([ended, ...closed]);
    });
    expect(existsSync(join(layout.root, 'mark'))).toBe(false);
  });

  test('starts no command if it is killed during the setup of a sandbox', async () => {
    const layout = open();
    const message = commandMessage(host, layout, ['touch', join(layout.root, 'mark')], COMMAND);
    await shells.use(layout, null, async (shell) => {
      // The setup copies the input of the command to a file, so it waits for the end of the input.
      const { status, ended } = shell.run(`--file\u00000\u0000/tmp/input\u0000${message}`, '', []);
      const pid = /"child-pid": (\d+)/.exec(`${await once(status, 'data')}`)![1]!;
      // bubblewrap clears the umask of the first process at the start of the setup.
      await expect.poll(() => readFileSync(`/proc/${pid}/status`, 'utf8'), POLL).toMatch(/^Umask:\s*0+$/m);
      shell.process.kill('SIGKILL');
      await ended;
      shell.process.stdin!.destroy();
      await expect.poll(() => processStartTime(pid), POLL).toBeNull();
    });
    expect(existsSync(join(layout.root, 'mark'))).toBe(false);
  });

  test('runs no command whose message is truncated', async () => {
    const layout = open();
    const message = commandMessage(host, layout, ['touch', join(layout.root, 'mark')], COMMAND);
    const isMarked = async (text: string) => {
      await shells.use(layout, null, async (shell) => {
        const { stdout, stderr, status, ended } = shell.run(text, undefined, []);
        const closed = [stdout, stderr, status].map((stream) => once(stream.resume(), 'close'));
        await Promise.all([ended, ...closed]);
      });
      return existsSync(join(layout.root, 'mark'));
    };
    const script = message.lastIndexOf('ulimit -c');
    const tries = depth(3, 12);
    const places = Array.from(
      { length: tries },
      (_, at) => script + Math.floor((at * (message.length - script)) / tries),
    );
    const cuts = [0, 1, message.indexOf('--remount-ro'), ...places, message.length - 3, message.length - 2];
    for (const cut of cuts) expect(await isMarked(message.slice(0, cut)), `cut at ${cut}`).toBe(false);
    expect(await isMarked(message)).toBe(true);
  });
});

test('arguments of a command arrive unchanged', async () => {
  const layout = open();
  const word = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('', '-n', '--', '$HOME', '$(id)', "'", '"', '\\', '\n', '*', ' ', '\u0081\u0088', '~', '=', '\r'),
  );
  const words = fc.array(
    word.map((text) => text.replaceAll('\0', '').toWellFormed()),
    { maxLength: 40 },
  );
  await fc.assert(
    fc.asyncProperty(words, async (given) => {
      const { stdout } = await sandbox.run(layout, ['printf', '%s\\0', 'first', ...given], options);
      expect(stdout.split('\0').slice(1, -1)).toEqual(given);
    }),
    { numRuns: depth(3, 8) },
  );
});

test.runIf(isDeep)('many and long arguments arrive, and too many or too long ones are an error', async () => {
  const layout = open();
  const printed = async (words: readonly string[]) => {
    const script = 'for word; do printf "%s\\n" "${#word}"; done | sort -n | uniq -c | tr -s " "';
    return (await sandbox.run(layout, ['sh', '-c', script, 'sh', ...words], options)).stdout;
  };
  expect(await printed(Array.from({ length: 20_000 }, (_, at) => `a/'b'/${at % 10}`))).toBe(' 20000 7\n');
  const long = "'".repeat(23_000);
  const longer = `"$HOME" 'x'\n`.repeat(9_000);
  expect(await printed(['a', long, 'b', longer, 'c', long])).toBe(` 3 1\n 2 23000\n 1 ${longer.length}\n`);
  for (const words of [['x'.repeat(140_000)], Array.from({ length: 200_000 }, () => 'a long word')])
    await expect(printed(words)).rejects.toMatchObject({ cause: { code: 'E2BIG' } });
});

test('the input of a command comes completely through a pipe and is in no file', async () => {
  const layout = open();
  const stdin = 'line\n'.repeat(100_000);
  const read = await sandbox.run(layout, ['sh', '-c', 'ls -l /proc/self/fd/0 | tr -d 0-9; wc -c'], {
    ...options,
    stdin,
  });
  expect(read.stdout).toMatch(/pipe|stdin/);
  expect(read.stdout).toContain('500000');
  expect((await sandbox.run(layout, ['true'], { ...options, stdin })).exit).toBe(0);
  expect((await sandbox.run(layout, ['cat'], { ...options, stdin: '' })).stdout).toBe('');
});

test.runIf(isDeep)('a lower limit on open files applies to commands too', async () => {
  const { root } = open();
  const engine = `ulimit -n 512 && exec '${process.execPath}' '${ENGINE}' '${root}' bash-readonly 'ulimit -n'`;
  const child = spawn('sh', ['-c', engine], { stdio: ['ignore', 'pipe', 'inherit'] });
  expect(JSON.parse(await text(child.stdout))).toMatchObject({ outcome: { result: { stdout: '512\n' } } });
});

test('an argument with a NUL character is an error, and nothing runs', async () => {
  const layout = open();
  const argv = ['touch', `${layout.root}/mark`, 'x\0--ro-bind\0/\0/'];
  await expect(sandbox.run(layout, argv, options)).rejects.toThrow(SandboxError);
  expect(readdirSync(layout.root)).toEqual([]);
});

test.runIf(isDeep)('the end of a hopgate process leaves no files and no control group of its sandboxes', async () => {
  const { root } = open();
  const child = spawn(process.execPath, [ENGINE, root, 'bash-readonly', 'echo done'], { stdio: 'ignore' });
  expect(await once(child, 'exit')).toEqual([0, null]);
  const groups = ['/sys/fs/cgroup', '/sys/fs/cgroup/pids', '/sys/fs/cgroup/memory'].filter((each) => existsSync(each));
  const left = [tmpdir(), ...groups].flatMap((folder) => readdirSync(folder));
  expect(left.filter((name) => new RegExp(`^hopgate-.*\\b${child.pid}-`).test(name))).toEqual([]);
});
