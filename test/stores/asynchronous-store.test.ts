import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { processHolder } from '../../src/base/process-holder.ts';
import { describeEvidenceStore } from '../contracts/evidence-store.ts';
import { asynchronousStore } from './asynchronous-store.ts';

const folder = () => mkdtempSync(join(tmpdir(), 'hopgate-store-'));

describeEvidenceStore('asynchronous', async (clock) => {
  const place = folder();
  const file = join(place, 'evidence.db');
  const store = await asynchronousStore(file, clock);
  return {
    store,
    reopen: async () => {
      await store.close();
      return asynchronousStore(file, clock);
    },
    cleanup: async () => rmSync(place, { recursive: true, force: true }),
  };
});

it('a lease of another machine ends only by its expiry', async () => {
  const place = folder();
  let now = 0;
  const store = await asynchronousStore(join(place, 'evidence.db'), { now: () => now });
  const ended = processHolder('w-1').replace(/\d+$/, '1');
  await store.acquire('s-1', ended, 1000);
  await expect(store.acquire('s-1', 'w-2', 1000)).rejects.toMatchObject({ code: 'session-busy' });
  now = 1000;
  await expect(store.acquire('s-1', 'w-2', 1000)).resolves.toMatchObject({ holder: 'w-2' });
  await store.close();
  rmSync(place, { recursive: true, force: true });
});
