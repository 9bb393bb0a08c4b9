import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileSpecTables } from '../../src/compile/spec-tables.ts';
import type { StoredEntry } from '../../src/evidence/entry.ts';
import { CompressedViewFrames } from '../../src/server/compressed-frames.ts';
import { applyEntry } from '../../src/session/state/apply-entry.ts';
import { initialSessionState } from '../../src/session/state/session-state.ts';
import { SessionFrames } from '../../src/view/session-frames.ts';
import type { ViewFrame } from '../../src/view/view-state.ts';
import { depth, isDeep } from '../depth.ts';
import { type Stage, stage } from '../session/sessions.ts';
import { framesOf } from '../view/frames-of.ts';

/** The frames of a session that began at its tail; the store counts the entries that are read. */
async function fromTail({ session, store }: Stage) {
  let read = 0;
  const counting: typeof store = {
    ...store,
    async *entries(id, options) {
      for await (const stored of store.entries(id, options)) {
        read++;
        yield stored;
      }
    },
  };
  const pin = { specs: session.specs, config: session.config };
  const all: StoredEntry[] = [];
  for await (const stored of store.entries(session.id)) all.push(stored);
  const tables = compileSpecTables(pin.specs);
  const state = all.reduce(
    (state, stored) => applyEntry(tables, state, stored),
    initialSessionState(tables, session.id),
  );
  const end = state.head.seq;
  const from = Math.max(0, end - 3);
  const view = new SessionFrames(pin, session.id, { state, from });
  const past = all.slice(from).map((stored) => view.addPast(stored));
  const kept = new CompressedViewFrames(counting, session.id, new SessionFrames(pin, session.id), {
    view,
    before: view.state,
    end,
    past,
  });
  return { kept, end, read: () => read };
}

async function wholeOf({ session, store }: Stage): Promise<readonly ViewFrame[]> {
  const entries: StoredEntry[] = [];
  for await (const stored of store.entries(session.id)) entries.push(stored);
  return framesOf({ specs: session.specs, config: session.config }, session.id, entries);
}

/** A session with `steps` steps in explore, of which every third is refused. */
async function long(steps: number): Promise<Stage & { work(): Promise<unknown> }> {
  const staged = await stage();
  const { session } = staged;
  await session.setMode({ to: 'diagnose', reason: 'look' });
  await session.start('explore');
  let made = 0;
  const work = () =>
    made++ % 3 === 2
      ? session.step({ tool: 'write', args: { path: `src/${made}.ts`, content: '' } })
      : session.step({ tool: 'read', args: { path: `src/${made}.ts` } });
  for (let step = 0; step < steps; step++) await work();
  return { ...staged, work };
}

describe('the frames of a long session', () => {
  it.runIf(isDeep)('show the last rows and new entries without reading the entries before them', async () => {
    const staged = await long(1_200);
    const { kept, end, read } = await fromTail(staged);
    const { past, frames, before } = kept.newest(3);
    expect(past).toBe(true);
    expect(frames.map(({ seq }) => seq)).toEqual([end - 2, end - 1, end]);
    expect(before.peripheral).toBe('explore');
    for (let step = 0; step < 3; step++) await staged.work();
    await kept.catchUp();
    expect(kept.state.steps).toBe(staged.session.state.steps);
    expect((await kept.page(end + 2, 10)).frames.map(({ row }) => row.action)).toEqual(
      (await wholeOf(staged)).slice(end + 2).map(({ row }) => row.action),
    );
    expect(read()).toBe(kept.seq - end);
    // A page of the beginning needs the entries up to its end only.
    expect((await kept.page(0, 10)).frames).toHaveLength(10);
    expect(read()).toBeLessThan(50);
  });

  it('are the same as frames from the first entry, in any order of pages and new entries', async () => {
    const act = fc.oneof(
      fc.record({ from: fc.nat(70), limit: fc.integer({ min: 1, max: 40 }) }),
      fc.constant('work' as const),
      fc.constant('new' as const),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 12 }), async (acts) => {
        const staged = await long(50);
        const { kept } = await fromTail(staged);
        for (const each of acts) {
          if (each === 'work') await staged.work();
          else if (each === 'new') await kept.catchUp();
          else {
            const { frames } = await kept.page(each.from, each.limit);
            const whole = (await wholeOf(staged)).slice(each.from, each.from + each.limit);
            expect(frames.map(({ seq, row }) => [seq, row.action])).toEqual(
              whole.slice(0, frames.length).map(({ seq, row }) => [seq, row.action]),
            );
          }
        }
        await Promise.all([kept.page(0, 1_000), kept.catchUp(), kept.page(20, 1_000)]);
        await kept.catchUp();
        expect((await kept.page(0, 1_000)).frames).toEqual(await wholeOf(staged));
      }),
      { numRuns: depth(4, 60) },
    );
  });
});
