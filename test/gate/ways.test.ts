import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { availableActions } from '../../src/gate/available-actions.ts';
import { decide } from '../../src/gate/decide.ts';
import type { WayLeg } from '../../src/gate/denial.ts';
import type { SessionView } from '../../src/gate/session-view.ts';
import { shortestWay } from '../../src/gate/ways/shortest-way.ts';
import { loadSpecs } from '../../src/spec/load/load-specs.ts';
import type { SpecSet } from '../../src/spec/types.ts';
import { IDS, specs } from '../compile/random-specs.ts';
import { depth } from '../depth.ts';
import { GATE, specsOf } from '../testing/spec-sets.ts';
import { contextOf, fixtureSpecs, viewOf, visitTo } from './views.ts';

/** A session in which everything that a hop of these specs can need is there. */
const at = (peripheral: string | null) =>
  viewOf({
    naturalClose: true,
    tests: { passed: true, count: 1, failed: 0 },
    patterns: { p: 'held' },
    fruits: { edit: { 'commit-message': 'fix: x' } },
    ...(peripheral === null ? {} : { visit: visitTo(peripheral), visits: { [peripheral]: 1 } }),
  });
/** Gives every peripheral the tools and the scope to meet each need in it. */
const withTools = (set: SpecSet): SpecSet => ({
  ...set,
  tools: fixtureSpecs.tools,
  peripherals: Object.fromEntries(
    Object.entries(set.peripherals).map(([id, spec]) => [
      id,
      { ...spec, tools: ['bash-test'], scope: fixtureSpecs.peripherals['test']!.scope },
    ]),
  ),
});

/** Every way without a repeated peripheral, by brute force; the first legs are those that are available. */
function allWays(set: SpecSet, from: string | null, to: string): WayLeg[][] {
  const legsFrom = (peripheral: string) => availableActions(set, at(peripheral)).hops;
  const admits = (peripheral: string) => set.peripherals[peripheral]!.agents?.includes(at(from).agent) ?? true;
  const ways: WayLeg[][] = [];
  const walk = (legs: WayLeg[], seen: string[]): void => {
    const here = legs.at(-1)?.to;
    if (here === to) return void ways.push(legs);
    const next = here === undefined ? availableActions(set, at(from)).hops : legsFrom(here);
    for (const leg of next) if (!seen.includes(leg.to) && admits(leg.to)) walk([...legs, leg], [...seen, leg.to]);
  };
  walk([], from === null ? [] : [from]);
  return ways;
}
const cost = (way: readonly WayLeg[]) => way.reduce((sum, { needs }) => sum + needs.length, 0);

describe('shortestWay', () => {
  it('has the fewest steps, and among those the fewest needs', () => {
    let found = 0;
    let far = 0;
    fc.assert(
      fc.property(specs.map(withTools), fc.constantFrom(...IDS, null), fc.constantFrom(...IDS), (set, from, to) => {
        fc.pre(from !== to);
        const way = shortestWay(set, at(from), new Set([to]));
        const ways = allWays(set, from, to);
        if (ways.length === 0) {
          // The operator may start where no agent may.
          if (from !== null) expect(way).toBeNull();
          else expect(way?.[0]?.needs[0] ?? 'by operator').toBe('by operator');
          return;
        }
        const least = Math.min(...ways.map(({ length }) => length));
        expect(way).toHaveLength(least);
        expect(cost(way ?? [])).toBe(Math.min(...ways.filter(({ length }) => length === least).map(cost)));
        expect(ways).toContainEqual(way);
        found++;
        if (least > 1) far++;
      }),
      { numRuns: depth(700, 1500) },
    );
    expect(found).toBeGreaterThan(depth(20, 100));
    expect(far).toBeGreaterThan(depth(0, 10));
  });

  it('agrees with an exhaustive search between all peripherals of the fixture specs', () => {
    const ids = Object.keys(fixtureSpecs.peripherals);
    for (const from of [...ids, null])
      for (const to of ids.filter((id) => id !== from)) {
        const way = shortestWay(fixtureSpecs, at(from), new Set([to]));
        const ways = allWays(fixtureSpecs, from, to);
        expect(way?.length ?? 0).toBe(Math.min(...ways.map(({ length }) => length)));
      }
  });

  it('takes the exit that a passed check opens, if the other exits can never open the target', async () => {
    for (const [folder, before] of [
      ['001', 'edit'],
      ['002', 'test'],
    ] as const) {
      const set = await loadSpecs(`test/fixtures/specs/${folder}`);
      const edges = set.edges.filter(({ exit }) => exit !== 'hop-deploy').toReversed();
      for (const order of [edges, edges.toReversed()]) {
        const way = shortestWay({ ...set, edges: order }, at(before), new Set(['deploy']));
        expect(way?.at(-1)).toMatchObject({ exit: 'pass', to: 'deploy' });
      }
    }
  });

  it('leads past peripherals that do not admit the agent, and names the context and the operator that a start needs', () => {
    const peripheral = (id: string, rest: string) => ({
      [`peripherals/${id}.yaml`]: `id: ${id}\npurpose: A peripheral.\ntools: []\nscope: conversation\n${rest}\n`,
    });
    const set = specsOf({
      ...peripheral('a', 'entry: [default]\ncontext: { task: inherit }\nexit: { to-b: b, to-c: c }'),
      ...peripheral('b', 'entry: [from-a]\nagents: [somebody]\nexit: { to-d: d }'),
      ...peripheral('c', 'entry: [from-a]\nexit: { on: e }'),
      ...peripheral('d', 'entry: [from-b, from-e]\nexit: {}'),
      ...peripheral('e', 'entry: [from-c, user-request]\nexit: { to-d: d }'),
    });
    const legs = (view: SessionView, to: string) =>
      shortestWay(set, view, new Set([to]))?.map((leg) => [leg.to, ...leg.needs]);
    expect(legs(viewOf(), 'd')).toEqual([['a', 'task'], ['c'], ['e'], ['d']]);
    expect(legs(at('a'), 'b')).toBeUndefined();
    expect(legs(viewOf({ visits: { a: 1 } }), 'd')).toEqual([['e', 'by operator'], ['d']]);
  });

  it('names a need where it can be met, and in the mode in which it can', () => {
    const peripheral = (id: string, tools: string, rest: string) => ({
      [`peripherals/${id}.yaml`]: `id: ${id}\npurpose: A peripheral.\ntools: [${tools}]\nscope: ${tools === 'bash-test' ? 'test-commands-only' : 'conversation'}\n${rest}\n`,
    });
    const set = specsOf({
      'gate.yaml': GATE,
      ...peripheral(
        'a',
        '',
        'entry: [default, from-test]\nfruit: { pick: { stated: string, optional: true } }\nexit: { on: b, to-test: test, to-e: e }',
      ),
      ...peripheral(
        'test',
        'bash-test',
        'entry: [from-a]\nfruit: { result: { observed: [pass, fail] } }\nexit: { pass: a, back: a }',
      ),
      ...peripheral('b', '', 'entry: [from-a]\nexit: { to-c: c, to-d: d, to-f: { to: f, when: visits.test > 0 } }'),
      ...peripheral('c', '', 'entry: [from-b]\ncontext: { pick: from-a }\nexit: {}'),
      ...peripheral('d', '', 'entry: [from-b, tests-passed]\nexit: {}'),
      ...peripheral('e', '', 'entry: [from-a, agent-request]\nexit: {}'),
      ...peripheral('f', '', 'entry: [from-b]\ncontext: { pick: inherit }\nexit: {}'),
    });
    const legs = (to: string, here: string, some: Partial<SessionView> = {}) =>
      shortestWay(
        set,
        viewOf({ mode: 'discuss', visit: visitTo(here), visits: { [here]: 1 }, ...some }),
        new Set([to]),
      )?.map(({ to, needs, modes = [] }) => [...modes.map((mode) => mode.to), to, ...needs].join(' '));
    expect(legs('c', 'a')).toEqual(['b pick', 'c']);
    expect(legs('c', 'a', { fruits: { a: { pick: 'old' } } })).toEqual(['b pick', 'c']);
    expect(legs('c', 'b', { fruits: { a: { pick: 'old' } } })).toEqual(['c']);
    expect(legs('c', 'b')).toBeUndefined();
    expect(legs('d', 'a')).toEqual(['diagnose test', 'a tests-passed', 'b', 'd']);
    expect(legs('d', 'b', { tests: { passed: true, count: 1, failed: 0 } })).toEqual(['d tests-passed']);
    expect(legs('f', 'a')).toEqual(['test', 'a when visits.test > 0', 'b pick', 'f']);
    expect(legs('e', 'a')).toEqual(['diagnose test', 'a a successful step since the last review', 'e']);
    expect(legs('e', 'a', { naturalClose: true })).toEqual(['e a successful step since the last review']);
  });

  it('leads back to edit after a failed test run', () => {
    const [test, deploy] = [
      viewOf({ ...at('test'), tests: { passed: false, count: 1, failed: 1 } }),
      new Set(['deploy']),
    ];
    expect(shortestWay(fixtureSpecs, test, deploy)?.map(({ to }) => to)).toEqual(['edit', 'test', 'deploy']);
    const only = (exit: string): SpecSet => ({
      ...fixtureSpecs,
      edges: fixtureSpecs.edges.filter((edge) => edge.from !== 'test' || edge.exit === exit),
    });
    // A failure of code that passed makes the result flaky.
    expect(shortestWay(only('flaky'), at('test'), new Set(['edit']))?.map(({ exit }) => exit)).toEqual(['flaky']);
    expect(shortestWay(only('fail'), at('test'), new Set(['edit']))).toBeNull();
  });

  it('names each leg that needs the operator', () => {
    expect(shortestWay(fixtureSpecs, at('chat'), new Set(['edit']))).toMatchObject([
      { exit: 'hop-edit', needs: ['by operator'] },
    ]);
    expect(shortestWay(fixtureSpecs, at(null), new Set(['edit']))?.map(({ to }) => to)).toEqual(['explore', 'edit']);
  });
});

describe('the available actions', () => {
  it('are empty in a closed session', () => {
    expect(availableActions(fixtureSpecs, { ...at('edit'), closed: true })).toMatchObject({
      tools: [],
      hops: [],
      modes: [],
    });
  });
  it('contain hops but no tools in an expired visit', () => {
    const expired = availableActions(fixtureSpecs, viewOf({ visit: visitTo('test', { status: 'expired' }) }));
    expect(expired.tools).toEqual([]);
    expect(expired.hops.length).toBeGreaterThan(0);
  });
  it('are the default starts in a new session, and later the peripherals that a closing session may enter', () => {
    const starts = (visits: { [id: string]: number }) =>
      availableActions(fixtureSpecs, viewOf({ visits })).hops.map(({ to }) => to);
    expect(starts({}).toSorted()).toEqual(['chat', 'explore']);
    expect(starts({ edit: 1 })).toEqual(['reflect']);
  });
  it('include the tools that the mode allows', () => {
    const tools = (mode: 'discuss' | 'diagnose' | 'execute') =>
      availableActions(fixtureSpecs, viewOf({ mode, visit: visitTo('edit') })).tools;
    expect(tools('discuss')).not.toContain('read');
    expect(tools('diagnose')).toContain('read');
    expect(tools('diagnose')).not.toContain('edit');
    expect(tools('execute')).toEqual(expect.arrayContaining(['read', 'edit', 'write', 'bash']));
  });
});

it('the path to a tool begins with the change of mode that its effect needs', () => {
  const inMode = (mode: 'discuss' | 'execute') =>
    decide(contextOf(viewOf({ mode, visit: visitTo('explore'), visits: { explore: 1 } })), {
      kind: 'step',
      tool: 'edit',
      args: {},
    });
  const refused = inMode('discuss');
  expect(refused.ok ? '' : refused.denial.remedy).toMatch(
    /call mode\(\{"to":"diagnose".*then mode\(\{"to":"execute".*approval by operator.*, then hop to edit with exit found-target/,
  );
  const acting = inMode('execute');
  expect(acting.ok ? '' : acting.denial.remedy).not.toContain('mode(');
});
