import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, readlinkSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { probeCgroups } from '../../../src/tools/sandbox/limits/cgroup.ts';
import { DEFAULT_LIMITS } from '../../../src/tools/sandbox/mounts/layout.ts';
import { makeSupportFiles } from '../../../src/tools/sandbox/mounts/support-files.ts';

const linux = process.platform === 'linux';
const namespace = linux ? /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] : '';

test('the sandboxes and the folder of a killed hopgate process are removed', { skip: !linux }, async () => {
  const dead = spawnSync('true').pid;
  const folder = join(tmpdir(), `hopgate-sandbox-${namespace}-${dead}-left`);
  mkdirSync(folder);
  const orphan = spawn('sleep', ['1000'], { argv0: `${folder}/empty`, stdio: 'ignore' });
  const other = spawn('sleep', ['1000'], { argv0: `${folder}-not-mine/empty`, stdio: 'ignore' });
  makeSupportFiles();
  const [, signal] = await once(orphan, 'exit');
  expect(signal).toBe('SIGKILL');
  expect(existsSync(folder)).toBe(false);
  expect(other.exitCode).toBeNull();
  other.kill('SIGKILL');
});

test('the cleanup keeps another user’s files with similar names', { skip: process.getuid?.() !== 0 }, () => {
  const folder = join(tmpdir(), `hopgate-sandbox-${namespace}-${spawnSync('true').pid}-theirs`);
  mkdirSync(folder);
  chownSync(folder, 12_345, 12_345);
  makeSupportFiles();
  expect(existsSync(folder)).toBe(true);
  rmdirSync(folder);
});

test('a control group of an earlier process with the same pid is not an obstacle', { skip: !linux }, async () => {
  const cgroups = probeCgroups();
  if (cgroups === null) return;
  const folders = ['/sys/fs/cgroup', '/sys/fs/cgroup/pids'].filter((folder) => existsSync(folder));
  const left = folders.flatMap((folder) => [1, 2, 3].map((run) => `${folder}/hopgate-${process.pid}-${run}`));
  const made = left.filter((path) => {
    try {
      mkdirSync(path);
      return true;
    } catch {
      return false;
    }
  });
  try {
    for (const _ of [1, 2, 3]) await cgroups.create(DEFAULT_LIMITS).remove();
  } finally {
    for (const path of made) rmdirSync(path);
  }
});

test('at the exit of a process the newest task runs first, and a task that fails stops no other task', () => {
  const module = pathToFileURL(join(import.meta.dirname, '../../../src/tools/sandbox/at-exit.ts'));
  const script = `const { runAtProcessExit } = await import(${JSON.stringify(module.href)});
    for (const task of ['folder', 'shells'])
      runAtProcessExit(() => { console.log(task); throw new Error(task); });`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  expect(stdout).toBe('shells\nfolder\n');
});
