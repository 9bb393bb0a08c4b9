import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { nameLeaseHolder } from '../../src/base/process-holder.ts';
import { describeEvidenceStore } from '../contracts/evidence-store.ts';
import { describeTextDatabase } from '../contracts/text-database.ts';
import { asynchronousStore } from './asynchronous-store.ts';
import { WorkerDatabase } from './worker-database.ts';
import { isDeep } from '../depth.ts';

/** A new folder for the data of one test. */
const setUp = () => {
  const folder = mkdtempSync(join(tmpdir(), 'hopgate-store-'));
  const open = () => new WorkerDatabase(join(folder, 'evidence.db'));
  return { open, cleanup: () => rmSync(folder, { recursive: true, force: true }) };
};

describeTextDatabase('worker', setUp);

describeEvidenceStore(
  'asynchronous',
  async (clock) => {
    const { open, cleanup } = setUp();
    const store = asynchronousStore('asynchronous', open(), clock);
    const reopen = async () => store.close().then(() => asynchronousStore('asynchronous', open(), clock));
    return { store, reopen, cleanup: async () => cleanup() };
  },
  { whole: isDeep },
);

it('a lease of another machine ends only by its expiry', async () => {
  let now = 0;
  const store = asynchronousStore('asynchronous', new WorkerDatabase(':memory:'), { now: () => now });
  const ended = nameLeaseHolder('w-1').replace(/\d+$/, '1');
  await store.acquire('s-1', ended, 1000);
  await expect(store.acquire('s-1', 'w-2', 1000)).rejects.toMatchObject({ code: 'session-busy' });
  now = 1000;
  await expect(store.acquire('s-1', 'w-2', 1000)).resolves.toMatchObject({ holder: 'w-2' });
  await store.close();
});
