import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, chownSync, closeSync, existsSync, lstatSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { isDeep, sample } from '../../depth.ts';
import { ok, scratch, sleepers } from './support.ts';

const SOMEONE = 12_345;
const asRoot = process.getuid?.() === 0;
const ENGINE = join(import.meta.dirname, 'engine.ts');

/** Runs `engine.ts` in a process of its own. */
function engine(
  root: string,
  tool: string,
  command: string,
  prefix: readonly string[] = [],
  fds: readonly (number | 'ignore')[] = [],
): ChildProcess {
  const argv = [...prefix, process.execPath, ENGINE, root, tool, command];
  return spawn(argv[0]!, argv.slice(1), { stdio: ['ignore', 'pipe', 'inherit', ...fds] });
}

async function outputOf(child: ChildProcess): Promise<string> {
  let text = '';
  for await (const chunk of child.stdout!) text += chunk;
  return text;
}

function owned(files: { readonly [path: string]: string }): string {
  const root = scratch(files);
  for (const path of ['.', ...readdirSync(root, { recursive: true, encoding: 'utf8' })])
    chownSync(join(root, path), SOMEONE, SOMEONE);
  return root;
}

describe.runIf(asRoot)('hopgate as root in another user’s repository', () => {
  test.runIf(isDeep)('runs commands as the owner, who also owns the kept changes', async () => {
    const root = owned({ 'src/a': 'a', 'src/private': 'p' });
    chmodSync(join(root, 'src/private'), 0o600);
    const { result } = await ok(root, 'bash', {
      command: 'cat src/private; echo b > src/a; mkdir src/n; echo c > src/n/c; ls -ln src/a | cut -d" " -f3',
    });
    expect(result).toMatchObject({ exit: 0, stdout: 'p1000\n', dropped: [] });
    expect(readFileSync(join(root, 'src/a'), 'utf8')).toBe('b\n');
    for (const path of ['src/a', 'src/n', 'src/n/c']) expect(lstatSync(join(root, path)).uid, path).toBe(SOMEONE);
  });

  test('runs commands as root if the owner cannot reach the folder', async () => {
    const root = owned({ 'in/src/a': 'a' });
    chownSync(root, 0, 0);
    chmodSync(root, 0o700);
    const { result } = await ok(join(root, 'in'), 'bash-readonly', { command: 'cat src/a' });
    expect(result).toMatchObject({ exit: 0, stdout: 'a' });
  });
});

describe.runIf(asRoot)('hopgate without privileges', () => {
  test('isolates commands and keeps changes within the scope', async () => {
    const root = owned({ 'src/a': 'a', 'src/d/x': 'x', '.env': 'SECRET' });
    const command = 'cat .env; rm -r src/d && mkdir src/d && echo y > src/d/y; echo b > src/a; echo bad > out';
    const child = engine(root, 'bash', command, [
      'setpriv',
      `--reuid=${SOMEONE}`,
      `--regid=${SOMEONE}`,
      '--clear-groups',
    ]);
    const report = JSON.parse(await outputOf(child));
    expect(report.outcome).toMatchObject({ status: 'ok', result: { exit: 0, stdout: '' } });
    expect(report.effects.map(({ path, op }: { path: string; op: string }) => `${op} ${path}`)).toEqual([
      'delete src/d/x',
      'modify src/a',
      'create src/d/y',
    ]);
    expect(readdirSync(join(root, 'src/d'))).toEqual(['y']);
    expect(existsSync(join(root, 'out'))).toBe(false);
  });
});

describe.runIf(asRoot)('hopgate without write permission for the root', () => {
  test.runIf(isDeep)('drops the changes of a command and says why', async () => {
    const root = owned({ 'src/a': 'a', 'src/gone': 'x' });
    chmodSync(root, 0o555);
    const prefix = ['setpriv', `--reuid=${SOMEONE}`, `--regid=${SOMEONE}`, '--clear-groups'];
    const child = engine(root, 'bash', 'echo b > src/a; rm src/gone', prefix);
    const { outcome, effects } = JSON.parse(await outputOf(child));
    expect(outcome.result).toMatchObject({ exit: 0, changed: [] });
    expect(outcome.result.dropped.map(({ path }: { path: string }) => path)).toEqual(['src/gone', 'src/a']);
    expect(outcome.result.dropped[0].why).toContain('no change could be applied: EACCES');
    expect(effects).toEqual([]);
    expect(readFileSync(join(root, 'src/a'), 'utf8')).toBe('a');
    chmodSync(root, 0o755);
  });
});

describe.runIf(asRoot)('a folder that hopgate cannot list', () => {
  test.runIf(isDeep).each(['bash-readonly', 'bash'])('is not visible to %s either, under any name', async (tool) => {
    const root = owned({
      'src/a': 'a',
      'shut/.env': 'SECRET',
      'node_modules/x/.env': 'SECRET',
      'none/.env': 'SECRET',
      'half/.env': 'SECRET',
    });
    for (const [path, mode] of [
      ['shut', 0o111],
      ['node_modules/x', 0o311],
      ['none', 0],
      ['half', 0o444],
    ] as const)
      chmodSync(join(root, path), mode);
    const folders = 'shut node_modules/x none half';
    const command = `for f in ${folders}; do cat $f/.env; chmod 755 $f; cat $f/.env; mv $f new; cat new/.env; done; cat src/a`;
    const prefix = ['setpriv', `--reuid=${SOMEONE}`, `--regid=${SOMEONE}`, '--clear-groups'];
    const { outcome } = JSON.parse(await outputOf(engine(root, tool, command, prefix)));
    expect(outcome.result).toMatchObject({ exit: 0, stdout: 'a' });
  });
});

test.runIf(isDeep)('hopgate’s open descriptors are not inherited by commands', async () => {
  const root = scratch();
  const secret = scratch({ secret: 'SECRET' });
  const fd = openSync(join(secret, 'secret'), 'r');
  onTestFinished(() => closeSync(fd));
  const places = [4, 5, 6, 9, 30, 35];
  const fds = Array.from({ length: 40 }, (_, at) => (places.includes(at + 3) ? fd : 'ignore'));
  const child = engine(root, 'bash-readonly', 'ls -l /proc/self/fd', [], fds);
  const { outcome } = JSON.parse(await outputOf(child));
  expect(outcome.result.stdout).toContain('/proc/');
  expect(outcome.result.stdout).not.toMatch(/secret/i);
});

describe('a killed hopgate process', () => {
  test.each(sample(['bash-readonly', 'bash'], 2))('ends every process of %s', async (tool) => {
    const root = scratch({ 'src/a': 'a' });
    const mark = `6${process.pid}${tool.length}`;
    const command = `trap '' TERM HUP; setsid sleep ${mark} & (setsid sleep ${mark} &); sleep ${mark}`;
    const child = engine(root, tool, command);
    await until(() => sleepers(mark).length === 3);
    child.kill('SIGKILL');
    await until(() => sleepers(mark).length === 0);
    expect(readdirSync(root)).toEqual(['src']);
  });
});

/** Waits until a condition holds; the time limit of the test ends the wait. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(20);
}
