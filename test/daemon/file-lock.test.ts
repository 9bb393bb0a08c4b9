import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { withFileLock } from '../../src/daemon/file-lock.ts';
import { makeWorld } from './daemon-fixture.ts';
import { runProgram } from './processes.ts';

const MODULE = join(import.meta.dirname, '../../src/daemon/file-lock.ts');

it('a lock admits one process at a time, and no addition is lost', async () => {
  const { root, env } = makeWorld();
  const [lock, file] = [join(root, 'lock'), join(root, 'count')];
  writeFileSync(file, '0');
  const adding = `
    import { readFileSync, writeFileSync } from 'node:fs';
    import { setImmediate } from 'node:timers/promises';
    const { withFileLock } = await import(${JSON.stringify(MODULE)});
    for (let i = 0; i < 25; i++)
      await withFileLock(${JSON.stringify(lock)}, Date.now() + 60_000, async () => {
        const count = Number(readFileSync(${JSON.stringify(file)}, 'utf8'));
        await setImmediate();
        writeFileSync(${JSON.stringify(file)}, String(count + 1));
      });`;
  const ended = await Promise.all(
    [0, 1, 2].map(() => runProgram(process.execPath, ['--input-type=module', '-e', adding], env)),
  );
  expect(ended.map(({ stderr }) => stderr)).toEqual(['', '', '']);
  expect(readFileSync(file, 'utf8')).toBe('75');
});

it('an attempt to lock fails at the deadline, and a lock is free after its holder was killed', async () => {
  const { root, env } = makeWorld();
  const lock = join(root, 'lock');
  const holding = `
    const { withFileLock } = await import(${JSON.stringify(MODULE)});
    await withFileLock(${JSON.stringify(lock)}, Date.now() + 60_000, () => {
      process.stdout.write('held');
      return new Promise(() => setInterval(() => {}, 1000));
    });`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', holding], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  await expect(withFileLock(lock, Date.now() + 20, async () => 1)).rejects.toThrow(/another process holds/);
  child.kill('SIGKILL');
  await once(child, 'close');
  expect(await withFileLock(lock, Date.now(), async () => 1)).toBe(1);
});

it('a lock is released after work that failed', async () => {
  const { root } = makeWorld();
  const lock = join(root, 'lock');
  await expect(withFileLock(lock, Date.now(), () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await withFileLock(lock, Date.now(), async () => 1)).toBe(1);
});
