import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { describeLeaseHolder, isLeaseHolderGone, nameLeaseHolder } from '../../src/base/process-holder.ts';
import { memoryStore } from '../../src/stores/memory.ts';

const linux = process.platform === 'linux';

/** The holder's name of a process that lives until it is killed. */
async function otherProcess() {
  const url = new URL('../../src/base/process-holder.ts', import.meta.url).href;
  const script = `import(${JSON.stringify(url)}).then(({ nameLeaseHolder }) => { console.log(nameLeaseHolder('other')); setInterval(() => {}, 1000); });`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [data] = await once(child.stdout, 'data');
  return { child, holder: String(data).trim() };
}

test('a killed process is recognised as gone, and a running one as present', { skip: !linux }, async () => {
  const { child, holder } = await otherProcess();
  expect(isLeaseHolderGone(holder)).toBe(false);
  child.kill('SIGKILL');
  await once(child, 'close');
  expect(isLeaseHolderGone(holder)).toBe(true);
});

test('an unknown process is never considered gone', () => {
  expect(isLeaseHolderGone('writer-1')).toBe(false);
  expect(isLeaseHolderGone(nameLeaseHolder('me'))).toBe(false);
  expect(isLeaseHolderGone('w-1@00000000-0000-0000-0000-000000000000.1.1.1')).toBe(false);
});

test('a holder is described by its process', { skip: !linux }, () => {
  expect(describeLeaseHolder(nameLeaseHolder('me'))).toBe(`process ${process.pid}`);
  expect(describeLeaseHolder('writer-1')).toBe('writer-1');
});

test('a session whose writer was killed can be written immediately', { skip: !linux }, async () => {
  const { child, holder } = await otherProcess();
  const store = memoryStore();
  await store.acquire('s', holder, 30_000);
  await expect(store.acquire('s', 'second', 30_000)).rejects.toMatchObject({ code: 'session-busy' });
  child.kill('SIGKILL');
  await once(child, 'close');
  await expect(store.acquire('s', 'second', 30_000)).resolves.toMatchObject({ holder: 'second' });
  expect(await store.notes()).toMatchObject([
    { code: 'lease-taken-over', message: expect.stringContaining('has ended') },
    {},
  ]);
});
