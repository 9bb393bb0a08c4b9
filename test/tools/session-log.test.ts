import { beforeEach, describe, expect, it } from 'vitest';
import type { EvidenceStore } from '../../src/ports/evidence-store.ts';
import type { Json } from '../../src/spec/types.ts';
import { memoryStore } from '../../src/stores/memory.ts';
import { sessionLogBackend } from '../../src/tools/session-log.ts';
import { type BackendUnderTest, toolBackendContract, toolCall } from '../contracts/tool-backend.ts';
import { conversation, draft } from '../evidence/drafts.ts';

interface Page {
  readonly entries: readonly { readonly seq: number; readonly [key: string]: Json }[];
  readonly next: number | null;
  readonly total: number;
}

async function filled(): Promise<EvidenceStore> {
  const store = memoryStore();
  for (const [sessionId, steps] of [
    ['s-1', 9],
    ['s-2', 3],
  ] as const) {
    const lease = await store.acquire(sessionId, 'w', 60_000);
    await store.append(lease, await store.head(sessionId), conversation(sessionId, steps));
  }
  return store;
}

let store: EvidenceStore;
beforeEach(async () => {
  store = await filled();
});

toolBackendContract(
  'session-log',
  async (): Promise<BackendUnderTest> => ({
    backend: sessionLogBackend(await filled()),
    sessionId: 's-1',
    effect: 'observe',
    cases: [
      { what: 'the newest', tool: 'musn-log', args: {}, ends: 'ok', effects: [] },
      { what: 'from a cursor', tool: 'musn-log', args: { after: 3, limit: 2 }, ends: 'ok', effects: [] },
      { what: 'a bad limit', tool: 'musn-log', args: { limit: 0 }, ends: 'refused', code: 'invalid-action' },
      { what: 'a bad cursor', tool: 'musn-log', args: { after: 'x' }, ends: 'refused', code: 'invalid-action' },
    ],
  }),
  { none: 'it reads only the store' },
);

describe("the session's log", () => {
  const page = async (args: { [name: string]: Json }, sessionId = 's-1', outputBytes = 100_000): Promise<Page> => {
    const call = toolCall('musn-log', args, { root: '/nowhere' }, { sessionId, limits: { outputBytes } });
    const { outcome } = await sessionLogBackend(store).run(call);
    if (outcome.status !== 'ok') throw new Error(JSON.stringify(outcome));
    return outcome.result as unknown as Page;
  };
  const seqs = ({ entries }: Page) => entries.map(({ seq }) => seq);

  it('shows the newest entries first', async () => {
    expect(seqs(await page({ limit: 3 }))).toEqual([9, 8, 7]);
    expect(await page({})).toMatchObject({ next: null, total: 10 });
    expect(seqs(await page({}))).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
  });

  it('is read from a cursor to the end', async () => {
    const first = await page({ after: -1, limit: 4 });
    expect(seqs(first)).toEqual([0, 1, 2, 3]);
    const second = await page({ after: first.next!, limit: 4 });
    expect(seqs(second)).toEqual([4, 5, 6, 7]);
    expect(await page({ after: second.next!, limit: 4 })).toMatchObject({ next: null });
    expect(await page({ after: 5, limit: 4 })).toMatchObject({
      next: null,
      entries: [{ seq: 6 }, { seq: 7 }, { seq: 8 }, { seq: 9 }],
    });
    expect(await page({ after: 99 })).toEqual({ entries: [], next: null, total: 10 });
  });

  it('describes each entry', async () => {
    const [newest] = (await page({ limit: 1 })).entries;
    expect(newest).toEqual({
      seq: 9,
      id: 's-1-8',
      at: '2026-01-31T09:00:09.000Z',
      type: 'coordination',
      claim: 'step',
      event: 'step',
      peripheral: 'edit',
      mode: 'execute',
      inReplyTo: 's-1-7',
      body: { event: 'step', tool: 'read', args: { path: 'src/a.ts' } },
    });
  });

  it('contains only its own session', async () => {
    expect(seqs(await page({}, 's-2'))).toEqual([3, 2, 1, 0]);
    expect((await page({}, 's-2')).entries.every(({ id }) => String(id).startsWith('s-2'))).toBe(true);
    expect(await page({}, 'nobody')).toEqual({ entries: [], next: null, total: 0 });
  });

  it('shows the entries that exist at the time of the request', async () => {
    const inner = store;
    store = {
      ...inner,
      async head(sessionId) {
        const head = await inner.head(sessionId);
        const lease = await inner.acquire(sessionId, 'w', 60_000);
        await inner.append(lease, head, [draft({ id: 'late', at: '2026-01-31T09:01:00.000Z', inReplyTo: 's-1-8' })]);
        return head;
      },
    };
    const shown = await page({ after: 7 });
    expect(seqs(shown)).toEqual([8, 9]);
    expect(shown).toMatchObject({ total: 10, next: null });
  });

  it('is limited, and a cursor still reads everything', async () => {
    const seen: number[] = [];
    for (let after: number | null = -1; after !== null; ) {
      const one: Page = await page({ after }, 's-1', 700);
      expect(one.entries.length).toBeGreaterThan(0);
      expect(one.entries.length).toBeLessThan(10);
      seen.push(...seqs(one));
      after = one.next;
    }
    expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it('cuts a long body, so that one entry does not block the rest', async () => {
    const lease = await store.acquire('s-1', 'w', 60_000);
    const long = { event: 'step', text: 'é'.repeat(10_000) };
    await store.append(lease, await store.head('s-1'), [
      draft({ id: 'long', at: '2026-01-31T09:01:00.000Z', body: long, inReplyTo: 's-1-8' }),
    ]);
    const [entry] = (await page({ limit: 1 }, 's-1', 100)).entries;
    expect(entry).toMatchObject({ seq: 10, event: 'step', cut: true });
    expect(Buffer.byteLength(String(entry!['body']))).toBeLessThan(5000);
  });
});
