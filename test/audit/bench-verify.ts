/**
 * Measures `verify` against reading and parsing the same entries in the same run, and the growth of its memory.
 * Run: node --expose-gc test/audit/bench-verify.ts [entries]
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verifySession } from '../../src/audit/verify/verify-session.ts';
import type { EntryDraft } from '../../src/evidence/entry.ts';
import { createSession } from '../../src/session/create-session.ts';
import { loadSpecs } from '../../src/spec/load/load-specs.ts';
import { DEFAULT_PROJECT_CONFIG } from '../../src/spec/resolve/parse-project-config.ts';
import { sqliteStore } from '../../src/stores/sqlite.ts';
import { scriptedBackend } from '../../src/testing/doubles/scripted-backend.ts';

const wanted = Number(process.argv[2] ?? 1_000_000);
const folder = mkdtempSync(join(tmpdir(), 'hopgate-bench-'));
const store = sqliteStore(join(folder, 'evidence.db'));
const specs = await loadSpecs('default');
const config = DEFAULT_PROJECT_CONFIG;
const pinned = { specs, config };

let count = 0;
const session = await createSession(
  {
    store,
    clock: { now: () => Date.now() },
    ids: { next: (kind) => `${kind}-${count++}` },
    backends: [scriptedBackend({ read: { path: 'src/a.ts', text: 'x' } })],
    approver: null,
  },
  { specs, config, agent: 'bench', root: '/repo', unsafeNoSandbox: false, version: '0' },
);
await session.start('explore');
await session.setMode({ to: 'diagnose' });
await session.step({ tool: 'read', args: ['src/a.ts'] });
const { id: _, seq: _seq, bodyHash: _hash, prev: _prev, hash: _own, ...like } = (await session.evidence()).at(-1)!;
await session.detach();

let head = await store.head(session.id);
let last = (await Array.fromAsync(store.entries(session.id, { from: head.seq })))[0]!.entry.id;
const lease = await store.acquire(session.id, 'bench', 3_600_000);
while (head.seq + 1 < wanted) {
  const drafts: EntryDraft[] = [];
  for (let i = 0; i < 5000 && head.seq + 1 + drafts.length < wanted; i++) {
    const id = `step-${head.seq + 1 + i}`;
    const effects = [{ path: `src/${i % 500}.ts`, op: 'read' }];
    const body = {
      event: 'step',
      tool: 'read',
      args: { path: `src/${i % 500}.ts` },
      outcome: { status: 'ok', result: { path: 'src/a.ts', text: 'x' } },
      effects,
    };
    drafts.push({ ...like, id, inReplyTo: last, body });
    last = id;
  }
  const stored = await store.append(lease, head, drafts);
  const { seq, hash } = stored.at(-1)!.entry;
  head = { seq, hash };
}

const heap = (): number => {
  globalThis.gc?.();
  return Math.round(process.memoryUsage().heapUsed / 1024 / 1024);
};
async function timed(work: () => Promise<void>): Promise<number> {
  const from = performance.now();
  await work();
  return (performance.now() - from) / 1000;
}

const read = () =>
  timed(async () => {
    let bytes = 0;
    for await (const { entry } of store.entries(session.id)) bytes += entry.id.length;
    if (bytes === 0) throw new Error('nothing was read');
  });
let most = 0;
const verify = () =>
  timed(async () => {
    const result = await verifySession(session.id, pinned, store.entries(session.id), {
      getBlob: (hash) => store.getBlob(hash),
      progress: (entries) => {
        if (entries % 100_000 === 0) most = Math.max(most, heap());
      },
    });
    if (!result.ok || result.audit.counts.entries !== wanted) throw new Error(JSON.stringify(result).slice(0, 500));
  });

await read();
const start = heap();
const rounds = [0, 1, 2];
const pairs: [number, number][] = [];
for (const _round of rounds) pairs.push([await read(), await verify()]);
const [plain, whole] = pairs.sort(([a, b], [c, d]) => b / a - d / c)[1]!;
console.log(
  JSON.stringify({
    entries: wanted,
    read: `${plain.toFixed(2)} s`,
    verify: `${whole.toFixed(2)} s`,
    speed: `${(plain / whole).toFixed(2)} of plain reading`,
    heap: `${start} MB before, at most ${most} MB while verifying`,
  }),
);
await store.close();
rmSync(folder, { recursive: true });
