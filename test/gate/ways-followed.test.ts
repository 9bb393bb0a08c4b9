import fc from 'fast-check';
import { expect, it } from 'vitest';
import { testFactsOf } from '../../src/audit/rules/audit-state.ts';
import { isAtNaturalClose, toJudgedState } from '../../src/audit/rules/judged-state.ts';
import type { WayLeg } from '../../src/gate/denial.ts';
import type { SpecSet } from '../../src/spec/types.ts';
import { memoryStore } from '../../src/stores/memory.ts';
import { SettableTestClock } from '../../src/testing/model/model-clock.ts';
import { makeModelConfig } from '../../src/testing/model/model-config.ts';
import { ModelRun } from '../../src/testing/model/model-run.ts';
import { makeStateKeyFunction } from '../../src/testing/model/state-key.ts';
import type { Move } from '../../src/testing/plan/move.ts';
import { movesToTryIn } from '../../src/testing/plan/moves.ts';
import { isMoveAllowed, predictStateAfterMove } from '../../src/testing/plan/predict-state.ts';
import { sampleOfType } from '../../src/testing/samples/rule-values.ts';
import { depth } from '../depth.ts';
import { GATE, specsOf } from '../testing/spec-sets.ts';

const IDS = ['aa', 'bb', 'cc', 'dd'];
const FIELDS = ['alpha', 'beta'];
const some = <T>(of: readonly T[], maxLength: number) => fc.uniqueArray(fc.constantFrom(...of), { maxLength });
const TOOLS = {
  read: ['read', 'full-codebase'],
  test: ['bash-test', 'test-commands-only'],
  edit: ['read, edit', '{ paths: [src/] }'],
  pattern: ['psr-select, pur-update', 'pattern-library'],
  talk: ['', 'conversation'],
} as const;
const GATES = [
  '{ pattern: p, is: held }',
  '{ when: visit.steps > 0 }',
  '{ when: has(backpack.alpha) }',
  '{ when: tests.passed }',
];
const place = fc.record({
  kind: fc.constantFrom(...(Object.keys(TOOLS) as (keyof typeof TOOLS)[])),
  yields: some(FIELDS, 2),
  inherits: some(FIELDS, 1),
  takes: fc.option(fc.constantFrom(...FIELDS)),
  entry: some(['agent-request', 'tests-passed', 'been'], 1),
  exits: fc.uniqueArray(fc.constantFrom(...IDS), { minLength: 2, maxLength: 3 }),
  passes: fc.boolean(),
  gate: fc.option(fc.constantFrom(...GATES)),
});

/** A small spec set in which most hops need something, often from another peripheral. */
const sets = fc
  .record({ places: fc.tuple(place, place, place, place), gated: fc.boolean() })
  .map(({ places, gated }) => {
    const files = places.map(({ kind, yields, inherits, takes, entry, exits, passes, gate }, index) => {
      const id = IDS[index]!;
      const source = takes !== null && IDS.find((other, at) => other !== id && places[at]!.yields.includes(takes));
      const others = exits
        .filter((to) => to !== id)
        .map((to, at) => `${kind === 'test' && passes && at === 0 ? 'pass' : `to-${to}`}: ${to}`);
      const fruit = [
        ...yields.map((field) => `${field}: { stated: string, optional: true }`),
        ...(kind === 'test' ? ['result: { observed: [pass, fail, flaky] }'] : []),
      ];
      const context = [
        ...inherits.filter((field) => !source || field !== takes).map((field) => `${field}: inherit`),
        ...(source ? [`${takes}: from-${source}`] : []),
      ];
      const gates = gate && others.length > 0 ? `gates: { ${others[0]!.split(': ')[1]}: [${gate}] }\n` : '';
      return [
        `peripherals/${id}.yaml`,
        `id: ${id}\npurpose: A place.\ntools: [${TOOLS[kind][0]}]\nscope: ${TOOLS[kind][1]}\nentry: [${[index === 0 ? 'default, from-bb' : [IDS[0], IDS[2], IDS[3]].map((other) => `from-${other}`).join(', '), ...entry].join(', ')}]\nexit: { ${others.join(', ')} }\nfruit: { ${fruit.join(', ')} }\ncontext: { ${context.join(', ')} }\n${gates}`,
      ] as const;
    });
    return {
      'conditions.yaml': 'conditions: { been: visits.cc > 0 }\n',
      ...(gated ? { 'gate.yaml': GATE } : {}),
      ...Object.fromEntries(files),
    };
  });

/** Follows a path from a state of a session, with steps in each place. Returns the leg that is refused; null if none is. */
function follow(specs: SpecSet, state: ModelRun['state'], way: readonly WayLeg[]): string | null {
  let now = state;
  const pinned = { specs, config: makeModelConfig(specs) };
  const key = makeStateKeyFunction(pinned);
  for (const { from, exit, to, needs, modes = [], modesAfter = [] } of way) {
    const change = (steps: typeof modes) => {
      for (const { to, needs } of steps) {
        const reset = needs.includes('a reset by operator');
        const asked = {
          kind: 'mode',
          to,
          by: reset ? 'operator' : 'agent',
          summary: 's',
          approves: true,
          reset,
        } as const;
        now = predictStateAfterMove(pinned, now, { name: `to.${to}`, asked });
      }
    };
    change(modes);
    const by = needs.includes('by operator') ? 'operator' : 'agent';
    const named = (field: string) => needs.some((need) => need === field || need.includes(`backpack.${field}`));
    const fields = Object.entries(specs.peripherals[from ?? to]!.fruit).filter(
      ([field]) => from === null || named(field),
    );
    const fruit = Object.fromEntries(
      fields.flatMap(([field, rule]) => (rule.kind === 'stated' ? [[field, sampleOfType(rule.type)]] : [])),
    );
    const given = Object.fromEntries(FIELDS.filter(named).map((field) => [field, 'given']));
    const asked: Move['asked'] =
      from === null
        ? { kind: 'start', peripheral: to, by, context: given }
        : { kind: 'hop', to, exit: exit!, reason: 'because', fruit, approves: true, by };
    const goal: Move = { name: `${exit}.${to}`, asked };
    // The need of a later leg may be named here, where it can be met.
    const isMet = (state: ModelRun['state']) =>
      isMoveAllowed(state, goal) &&
      (!needs.includes('pattern p held') || state.patterns['p'] === 'held') &&
      (!needs.includes('a successful step since the last review') || isAtNaturalClose(toJudgedState(state, 'agent'))) &&
      (!needs.some((need) => /tests[-.]passed/.test(need)) || testFactsOf(state).passed);
    const routes = new Map([[key(now), { state: now, steps: 0 }]]);
    let found: typeof now | null = null;
    for (const { state, steps } of routes.values()) {
      if (isMet(state)) found = predictStateAfterMove(pinned, state, goal);
      if (found || steps === 4) break;
      for (const move of movesToTryIn(pinned, state)) {
        if (move.asked.kind !== 'step' || !isMoveAllowed(state, move)) continue;
        const next = predictStateAfterMove(pinned, state, move);
        if (!routes.has(key(next))) routes.set(key(next), { state: next, steps: steps + 1 });
      }
    }
    if (!found) return `${from} → ${to} needs ${needs.join(', ')}`;
    now = found;
    change(modesAfter);
  }
  return null;
}

it('each need of a path can be met where the path names it', async () => {
  let long = 0;
  const needs = new Set<string>();
  await fc.assert(
    fc.asyncProperty(sets, async (files) => {
      const specs = (() => {
        try {
          return specsOf(files);
        } catch {
          return null;
        }
      })();
      fc.pre(specs !== null);
      const clock = new SettableTestClock();
      const pinned = { specs: specs!, config: makeModelConfig(specs!) };
      const store = memoryStore({ clock });
      const run = await new ModelRun({ pinned, agent: 'tester', store, clock, root: '/repository' }).open();
      for (const id of IDS) {
        const way = run.session.wayTo(id);
        if (way === null) continue;
        expect(follow(specs!, run.state, way), JSON.stringify(way)).toBeNull();
        if (way.length > 1) long += 1;
        for (const need of way.flatMap((leg) => leg.needs)) needs.add(need);
      }
    }),
    { numRuns: depth(15, 600) },
  );
  expect(long).toBeGreaterThan(depth(3, 120));
  expect([...needs]).toEqual(expect.arrayContaining(['alpha', 'when has(backpack.alpha)']));
});
