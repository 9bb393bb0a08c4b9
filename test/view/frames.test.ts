import { expect, it } from 'vitest';
import { compileSpecTables } from '../../src/compile/spec-tables.ts';
import type { StoredEntry } from '../../src/evidence/entry.ts';
import type { SessionPin } from '../../src/session/pin.ts';
import { applyEntry } from '../../src/session/state/apply-entry.ts';
import { initialSessionState } from '../../src/session/state/session-state.ts';
import { SessionFrames } from '../../src/view/session-frames.ts';
import { layOutViewGraph } from '../../src/view/view-graph.ts';
import { applyViewDelta, EMPTY_VIEW_STATE, type ViewFrame, type ViewState } from '../../src/view/view-state.ts';
import { fixtureSpecs, type Stage, stage } from '../session/sessions.ts';
import { framesOf } from './frames-of.ts';

/** Every frame of a session, with the state after it. */
async function shown({ session, store }: Stage): Promise<readonly (ViewFrame & { readonly state: ViewState })[]> {
  const entries: StoredEntry[] = [];
  for await (const stored of store.entries(session.id)) entries.push(stored);
  const pin: SessionPin = { specs: session.specs, config: session.config };
  // A page gets frames that were serialised as JSON.
  const frames = JSON.parse(JSON.stringify(framesOf(pin, session.id, entries))) as ViewFrame[];
  let state = EMPTY_VIEW_STATE;
  return frames.map((frame) => {
    state = applyViewDelta(state, frame.delta);
    return { ...frame, state };
  });
}

/** The rows that a page has after the last frame. */
function rowsOf(frames: readonly ViewFrame[]) {
  const rows = new Map<number, ViewFrame['row']>();
  for (const { row, replaces = [] } of frames) {
    for (const key of replaces) rows.delete(key);
    rows.set(row.key, row);
  }
  return [...rows.values()];
}

/** A session that has changed src/a.ts in edit, been refused, and tested the change. */
async function worked(): Promise<Stage> {
  const staged = await stage();
  const { session, clock } = staged;
  await session.setMode({ to: 'diagnose', reason: 'look' });
  await session.start('explore');
  await session.step({ tool: 'write', args: { path: 'src/a.ts', content: 'x' } });
  await session.hop({ to: 'edit', exit: 'ready-to-edit', reason: 'found' });
  await session.setMode({ to: 'execute', reason: 'change it', exitCriteria: 'tests pass' });
  await session.step({ tool: 'edit', args: { path: 'src/a.ts', old: 'a', new: 'b' } });
  clock.advance(1);
  await session.hop({ to: 'test', exit: 'tests-pass', reason: 'check', fruit: { 'commit-message': 'Fix a' } });
  await session.step({ tool: 'bash-test', args: {} });
  return staged;
}

it('the frames give the state of the session after each entry, exactly as the session itself has it', async () => {
  const staged = await worked();
  const { session } = staged;
  const { state } = (await shown(staged)).at(-1)!;
  const status = session.state;
  expect(state).toMatchObject({
    agent: status.agent,
    peripheral: status.peripheral,
    mode: status.mode,
    steps: status.steps,
    denials: status.denials,
    tools: session.available().tools,
  });
  expect(Object.keys(state.files)).toEqual(status.changedFiles);
  expect(Object.keys(state.backpack).sort()).toEqual(Object.keys(status.backpack).sort());
  expect(state.ways.map(({ exit, to }) => ({ exit, to }))).toEqual(
    session.available().hops.map(({ exit, to }) => ({ exit, to })),
  );
});

it('the frames join intent, approval and outcome to one row, and a hop and its start to another', async () => {
  const rows = rowsOf(await shown(await worked()));
  expect(rows.slice(1).map(({ event, action, seqs }) => `${event}: ${action} (${seqs.length})`)).toMatchInlineSnapshot(`
    [
      "mode: mode discuss → diagnose (1)",
      "start: explore (1)",
      "denial: write src/a.ts x (1)",
      "stop: explore left by ready-to-edit (1)",
      "start: edit, from explore (2)",
      "mode: mode diagnose → execute (2)",
      "outcome: edit src/a.ts a b (2)",
      "stop: edit left by tests-pass (1)",
      "start: test, from edit (2)",
      "step: bash-test (1)",
    ]
  `);
});

it('the frames name the unmet requirements of each closed hop, and since when they are unmet', async () => {
  const staged = await worked();
  const { session, clock } = staged;
  const last = async () => (await shown(staged)).at(-1)!.state;
  expect((await last()).ways.find(({ exit }) => exit === 'pass')).toMatchObject({ to: 'deploy', status: 'asks' });
  await session.hop({ to: 'edit', exit: 'hop-edit', reason: 'one more' });
  await session.step({ tool: 'edit', args: { path: 'src/a.ts', old: 'a', new: 'b' } });
  const changedAt = clock.now();
  clock.advance(1);
  await session.hop({ to: 'test', exit: 'tests-pass', reason: 'check' });
  const { ways, changed } = await last();
  expect(changed).toEqual({ path: 'src/a.ts', at: changedAt });
  expect(ways.find(({ exit }) => exit === 'pass')).toMatchObject({
    status: 'closed',
    missing: [
      { words: 'needs: result is pass' },
      { words: 'tests are stale', stale: true },
      { words: 'needs: approval by operator' },
    ],
  });
});

it('the frames highlight the path that a refusal suggests, until the next entry', async () => {
  const frames = await shown(await worked());
  const at = frames.findIndex(({ row }) => row.code === 'tool-not-allowed');
  expect(frames[at]).toMatchObject({
    row: { mark: 'refused', tool: 'write', paths: ['src/a.ts'] },
    state: { lit: [{ from: 'explore', to: 'edit' }] },
  });
  expect(frames[at]!.row.remedy).toContain('hop to edit');
  expect(frames[at + 1]!.state.lit).toEqual([]);
});

it('the picture of the graph depends on the spec set alone, and has a position for each peripheral and a path for each arrow', async () => {
  const graph = await layOutViewGraph(fixtureSpecs);
  expect(await layOutViewGraph(fixtureSpecs)).toEqual(graph);
  expect(graph.nodes.map(({ id }) => id).sort()).toEqual(Object.keys(fixtureSpecs.peripherals).sort());
  for (const { x, width } of graph.nodes) expect(x + width).toBeLessThanOrEqual(graph.width);
  for (const { points } of graph.edges) expect(points.length).toBeGreaterThan(1);
});

it('the frames begin at the last rows of a session, from its stored state alone, and continue with new entries', async () => {
  const staged = await worked();
  const { session, store } = staged;
  const entries: StoredEntry[] = [];
  for await (const stored of store.entries(session.id)) entries.push(stored);
  const pin: SessionPin = { specs: session.specs, config: session.config };
  const tables = compileSpecTables(pin.specs);
  const [past, last] = [entries.slice(0, -1), entries.at(-1)!];
  const state = past.reduce(
    (before, stored) => applyEntry(tables, before, stored),
    initialSessionState(tables, session.id),
  );
  const from = past.length - 6;
  const view = new SessionFrames(pin, session.id, { state, from });
  const tail = past.slice(from).map((stored) => view.addPast(stored));
  const whole = framesOf(pin, session.id, entries);
  expect(tail.map(({ seq, row }) => [seq, row.key, row.action])).toEqual(
    whole.slice(from, -1).map(({ seq, row }) => [seq, Math.max(row.key, from), expect.any(String)]),
  );
  expect(tail.map(({ delta }) => delta)).toEqual(tail.map(() => ({})));
  const { peripheral, mode, tools, steps } = view.state;
  view.add(last);
  const after = (await shown(staged)).at(-1)!.state;
  expect({ ...view.state, trail: [], lit: [], passed: null, ways: [], changed: null, par: null, files: {} }).toEqual({
    ...after,
    trail: [],
    lit: [],
    passed: null,
    ways: [],
    changed: null,
    par: null,
    files: {},
  });
  expect([peripheral, mode, tools.length > 0, steps > 0]).toEqual([
    session.state.peripheral,
    session.state.mode,
    true,
    true,
  ]);
});
