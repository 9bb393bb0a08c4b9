import { expect, it } from 'vitest';
import { valueOfLazy } from '../../src/base/lazy.ts';
import { compileSpecTables } from '../../src/compile/spec-tables.ts';
import { buildChainedEntries } from '../../src/evidence/chain.ts';
import { EMPTY_CHAIN, type Entry } from '../../src/evidence/entry.ts';
import { applyEntry } from '../../src/session/state/apply-entry.ts';
import { draftEntry } from '../../src/session/state/drafts.ts';
import { initialSessionState } from '../../src/session/state/session-state.ts';
import { sessionViewOf } from '../../src/session/state/view-of-state.ts';
import { fixtureSpecs } from './sessions.ts';

const TABLES = compileSpecTables(fixtureSpecs);
const EFFECTS = 20_000;

/** An outcome with these effects, folded into a state. */
function fold(
  state: ReturnType<typeof initialSessionState>,
  effects: readonly { path: string; op: string; after: string }[],
) {
  const body = { event: 'outcome', tool: 'edit', outcome: { status: 'ok', result: null }, effects } as const;
  const [stored] = buildChainedEntries(EMPTY_CHAIN, [
    { ...draftEntry(fixtureSpecs, state, { ...body, effects: [] }, { id: 'e', now: 0 }), author: 'ann' },
  ]);
  const entry: Entry = { ...stored!.entry, body: body as never };
  return applyEntry(TABLES, state, { ...stored!, entry });
}

it('a session counts each of the 20,000 files of one step exactly once', () => {
  const effects = Array.from({ length: EFFECTS }, (_, nth) => ({ path: `src/${nth}.ts`, op: 'modify', after: 'f' }));
  const state = fold(initialSessionState(TABLES, 's'), [...effects, ...effects.slice(0, 10)]);
  expect(Object.keys(valueOfLazy(sessionViewOf(TABLES, state, 0).changes))).toHaveLength(EFFECTS);
  expect(state.facts.backpack['changed-files']).toHaveLength(EFFECTS);
});

it('a session keeps one change of each file, however often the file changes', () => {
  let state = initialSessionState(TABLES, 's');
  for (let nth = 0; nth < 500; nth++)
    state = fold(state, [{ path: `src/${nth % 3}.ts`, op: 'modify', after: String(nth) }]);
  expect(state.facts.changes.length).toBeLessThan(100);
  expect(valueOfLazy(sessionViewOf(TABLES, state, 0).changes)).toEqual({
    'src/0.ts': '498',
    'src/1.ts': '499',
    'src/2.ts': '497',
  });
});
