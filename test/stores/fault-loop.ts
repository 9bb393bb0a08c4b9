// Runs under fault.so: writes a small store again and again while the first, the second, … I/O call fails, until every
// call has failed once.
//   node fault-loop.ts <folder> <write|sync>
// Prints the results as JSON; the test judges them.
import { join } from 'node:path';
import { verifyChain } from '../../src/evidence/chain.ts';
import { EMPTY_CHAIN } from '../../src/evidence/entry.ts';
import { StoreError } from '../../src/ports/evidence-store.ts';
import { sqliteStore } from '../../src/stores/sqlite.ts';
import { conversation } from '../evidence/drafts.ts';

const [folder, kind] = process.argv.slice(2);
const drafts = conversation('s-1', 5);
const runs: object[] = [];

/** Appends until something fails; what was acknowledged counts, and whether the store then took any more. */
async function write(file: string) {
  const acknowledged: string[] = [];
  let failure: string | null = null;
  let tookMore = false;
  try {
    const store = sqliteStore(file);
    try {
      const lease = await store.acquire('s-1', 'w-1', 60_000);
      let head = EMPTY_CHAIN;
      for (const draft of drafts) {
        const [stored] = await store.append(lease, head, [draft]);
        head = { seq: stored!.entry.seq, hash: stored!.entry.hash };
        acknowledged.push(draft.id);
      }
    } catch (error) {
      failure = codeOf(error);
      tookMore = await store.putBlob(Buffer.from('more')).then(
        () => true,
        () => false,
      );
    }
    await store.close();
  } catch (error) {
    failure ??= codeOf(error);
  }
  return { acknowledged, failure, tookMore };
}
const codeOf = (error: unknown): string => (error instanceof StoreError ? error.code : String(error));

for (let at = 1; at < 1000; at++) {
  const file = join(folder!, `${at}`, 'evidence.db');
  Object.assign(process.env, { FAULT_KIND: kind, FAULT_AT: String(at), FAULT_RUN: `${kind}-${at}` });
  const { acknowledged, failure, tookMore } = await write(file);
  process.env['FAULT_RUN'] = '';
  const fired = process.env['FAULT_FIRED'] === `${kind}-${at}`;

  const store = sqliteStore(file);
  const check = await verifyChain(store.entries('s-1'));
  const found: string[] = [];
  for await (const { entry } of store.entries('s-1')) found.push(entry.id);
  const lost = acknowledged.filter((id) => !found.includes(id));
  await store.acquire('s-2', 'w-2', 60_000);
  await store.close();
  runs.push({ at, fired, failure, tookMore, lost, ok: check.ok, extra: found.length - acknowledged.length });
  if (!fired) break;
}
process.stdout.write(JSON.stringify(runs));
