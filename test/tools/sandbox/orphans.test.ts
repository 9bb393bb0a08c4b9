import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFurniture } from '../../../src/tools/sandbox/furniture.ts';

const linux = process.platform === 'linux';
const namespace = linux ? /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] : '';

test('it ends what a killed engine left waiting, and clears its folder away', { skip: !linux }, async () => {
  const dead = spawnSync('true').pid;
  const folder = join(tmpdir(), `hopgate-sandbox-${namespace}-${dead}-left`);
  mkdirSync(folder);
  const orphan = spawn('bash', ['-c', 'sleep 1000; :', `${folder}/empty`], { stdio: 'ignore' });
  const other = spawn('bash', ['-c', 'sleep 1000; :', `${folder}-not-mine/empty`], { stdio: 'ignore' });
  makeFurniture();
  const [, signal] = await once(orphan, 'exit');
  expect(signal).toBe('SIGKILL');
  expect(existsSync(folder)).toBe(false);
  expect(other.exitCode).toBeNull();
  other.kill('SIGKILL');
});
