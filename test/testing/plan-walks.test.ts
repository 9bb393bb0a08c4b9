import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { initialAuditState } from '../../src/audit/rules/audit-state.ts';
import * as lawfulness from '../../src/audit/rules/find-rule-problems.ts';
import { compileSpecTables } from '../../src/compile/spec-tables.ts';
import { storePin } from '../../src/session/pin.ts';
import { hashSpecs } from '../../src/spec/hash-specs.ts';
import type { SpecSet } from '../../src/spec/types.ts';
import * as memory from '../../src/stores/memory.ts';
import { loadNodeSqlite } from '../../src/stores/sqlite/node-sqlite.ts';
import { generateTests, prepareTestCaseRuns } from '../../src/testing/generate-tests.ts';
import { MADE_UP_CONFIG, makeModelConfig } from '../../src/testing/model/model-config.ts';
import { runPlannedCase } from '../../src/testing/model/run-case.ts';
import type { Move } from '../../src/testing/plan/move.ts';
import { itemsCoveredByMoves } from '../../src/testing/plan/planned-case.ts';
import { predictStateAfterMove } from '../../src/testing/plan/predict-state.ts';
import * as search from '../../src/testing/plan/search-route.ts';
import { planCases } from '../../src/testing/plan-cases.ts';
import { isDeep } from '../depth.ts';
import { specsOf } from './spec-sets.ts';

/** Peripherals in a ring, each with hops to the next ones; one has no way out. */
function ring(size: number, hops: number, rule = (to: string): string => to, fruit = '') {
  const ids = Array.from({ length: size }, (_, at) => `p${at}`);
  const files = ids.map((id, at) => {
    const to = Array.from({ length: hops }, (_, hop) => ids[(at + hop + 1) % size]!);
    const from = Array.from({ length: hops }, (_, hop) => ids[(at - hop - 1 + size) % size]!);
    const entry = [...(at === 0 ? ['default'] : []), ...from.map((each) => `from-${each}`)].join(', ');
    const exits = [...to.map((each) => `  to-${each}: ${rule(each)}`), ...(at === 1 ? ['  end: last'] : [])].join('\n');
    return `id: ${id}\npurpose: A peripheral.\ntools: [read]\nscope: full-codebase\nentry: [${entry}]\nexit:\n${exits}\n${fruit}`;
  });
  const last = 'id: last\npurpose: The end.\ntools: [read]\nscope: full-codebase\nentry: [from-p1]\nexit: {}\n';
  return specsOf(
    Object.fromEntries([...files, last].map((text) => [`peripherals/${/id: (.*)/.exec(text)![1]}.yaml`, text])),
  );
}

it('walks over a spec set with more than 150 edges take every edge, and return to its source if a path leads back', () => {
  const specs = ring(32, 5);
  expect(specs.edges).toHaveLength(161);
  const { cases, large } = planCases({ specs, config: makeModelConfig(specs) }, 'tester');
  expect(large).toBe(true);
  const back = new Set<string>();
  for (const { moves } of cases) {
    const items = itemsCoveredByMoves(specs, moves).filter((item) => item.startsWith('edge '));
    for (const [at, item] of items.entries()) {
      const source = item.split(' ')[1];
      if (items.slice(at + 1).some((later) => later.endsWith(` ${source}`))) back.add(item);
    }
  }
  const all = specs.edges.map(({ from, exit, to }) => `edge ${from} ${exit} ${to}`);
  expect(all.filter((item) => !back.has(item))).toEqual(['edge p1 end last']);
});

it('peripherals that differ only in their edges share the tests of their visits', () => {
  const specs = ring(5, 1);
  const { cases } = planCases({ specs, config: makeModelConfig(specs) }, 'tester');
  const placesOf = (chosen: typeof cases) => new Set(chosen.map(({ moves }) => moves.findLast(isEntered)?.name));
  const isEntered = ({ asked }: Move) => asked.kind === 'start' || asked.kind === 'hop';
  const visits = placesOf(cases.filter(({ group }) => group === 'visits'));
  expect([...visits].sort()).toEqual(['start.p0', 'to-p1.p1']);
  const calls = cases.filter(({ group, name }) => group === 'refusals' && name.startsWith('in '));
  const others = calls.filter(({ provoke }) => provoke === 'edges');
  expect([...placesOf(others)].sort()).toEqual(['end.last', 'to-p1.p1', 'to-p2.p2', 'to-p3.p3', 'to-p4.p4']);
});

function chain(ids: readonly string[]) {
  return specsOf(
    Object.fromEntries(
      ids.map((id, at) => {
        const entry = at === 0 ? 'default' : `from-${ids[at - 1]}`;
        const exit = at === ids.length - 1 ? '{}' : `{ next: ${ids[at + 1]} }`;
        const text = `id: ${id}\npurpose: A peripheral.\ntools: []\nscope: conversation\nentry: [${entry}]\nexit: ${exit}\n`;
        return [`peripherals/${id}.yaml`, text];
      }),
    ),
  );
}

it('a large spec set is tested with some refused starts from outside instead of all, because each names a long path', async () => {
  const specs = chain(Array.from({ length: 200 }, (_, at) => `p${at}`));
  const { tests, coverage } = await generateTests(specs);
  await tests[0]!.run();
  expect(coverage().requests).toBeGreaterThan(20);
  expect(coverage().requests).toBeLessThan(60);
});

it.runIf(isDeep)(
  'rules about the visits of each peripheral do not multiply the states that a search for a new edge visits',
  () => {
    const specs = ring(32, 5, (to) => `{ to: ${to}, when: visits.${to} < 9 }`);
    const judged = vi.spyOn(lawfulness, 'findFirstRuleProblem');
    const { cases } = planCases({ specs, config: makeModelConfig(specs) }, 'tester');
    const count = judged.mock.calls.length;
    judged.mockRestore();
    const taken = new Set(cases.flatMap(({ moves }) => itemsCoveredByMoves(specs, moves)));
    expect(specs.edges.filter(({ from, exit, to }) => !taken.has(`edge ${from} ${exit} ${to}`))).toEqual([]);

    expect(count).toBeLessThan(20_000);
  },
);

it.runIf(isDeep)(
  'calls that rules refuse everywhere are tried in one peripheral of each envelope of a large spec set',
  async () => {
    const { tests, coverage } = await generateTests(ring(40, 4));
    const walk = tests.find(({ group }) => group === 'walks')!;
    await walk.run();
    expect(coverage().requests).toBeGreaterThan(walk.planned.moves.length + 200);
    expect(coverage().requests).toBeLessThan(walk.planned.moves.length + 600);
  },
);

it.runIf(isDeep).each([
  ['the session counts', 'session.denials < 3', ''],
  ['a fruit counts', 'fruit.no_thanks < 3', 'fruit: { no-thanks: { observed: integer, from: refusals } }\n'],
])(
  'a rule that allows few refusals, which %s, holds on the walks, because refusals are tried in sessions of their own',
  async (_, rule, fruit) => {
    const { tests, large, coverage } = await generateTests(
      ring(2, 1, (to) => `{ to: ${to}, when: ${rule} && visit.steps < 300 }`, fruit),
    );
    expect(large).toBe(true);
    for (const { planned, run } of tests) if (planned.group === 'walks') await run();
    expect(coverage().rows.find(({ what }) => what === 'edges')).toMatchObject({ covered: 3, reachable: 3 });
    expect(coverage().requests).toBeGreaterThan(100);
  },
);

it.runIf(isDeep)('a rule about refusals does not hide the edges that need no refusal', () => {
  const peripheral = (id: string, entry: string, exit: string) => ({
    [`peripherals/${id}.yaml`]: `id: ${id}\npurpose: P.\ntools: [look]\nscope: conversation\nentry: [${entry}]\nexit: ${exit}\nfruit: { seen: { observed: [aa, bb, cc, dd] }, n: { observed: integer } }\n`,
  });
  const specs = specsOf({
    'tools.yaml':
      'tools:\n  look: { purpose: L., effect: observe, parameters: [], limits: { seconds: 5, output-bytes: 99 }, observes: { seen: [aa, bb, cc, dd], n: integer } }\n',
    ...peripheral('a', 'default, from-b', '{ on: { to: b, when: fruit.n > 7 } }'),
    ...peripheral(
      'b',
      'from-a',
      '{ back: { to: a, when: fruit.n > 17 }, on: { to: c, when: visits.a > 2 && visits.b > 2 && session.denials < 60 } }',
    ),
    ...peripheral('c', 'from-b', '{ refused: { to: d, when: visit.denials > 1 } }'),
    ...peripheral('d', 'from-c', '{}'),
  });
  const { reachable } = planCases({ specs, config: makeModelConfig(specs) }, 'tester');
  expect(specs.edges.filter(({ from, exit, to }) => !reachable.has(`edge ${from} ${exit} ${to}`))).toEqual([]);
});

it('tests that run one after the other share a store, and the store of a failed one is closed', async () => {
  const open = vi.spyOn(memory, 'memoryStore');
  const close = vi.spyOn(loadNodeSqlite().DatabaseSync.prototype, 'close');
  const { pinned, run } = await prepareTestCaseRuns(ring(4, 1));
  const { tests } = await generateTests(ring(4, 1), { crashes: false });
  const [planned, other] = tests.map((each) => each.planned).filter(({ group }) => group === 'hops');
  await runPlannedCase(pinned, planned!, run);
  await runPlannedCase(pinned, other!, run);
  expect(open).toHaveBeenCalledTimes(1);
  await Promise.all([runPlannedCase(pinned, planned!, run), runPlannedCase(pinned, other!, run)]);
  expect(open).toHaveBeenCalledTimes(2);
  expect(close).not.toHaveBeenCalled();
  const failing = { ...planned!, moves: planned!.moves.map((move) => ({ ...move, refused: true })) };
  await expect(runPlannedCase(pinned, failing, run)).rejects.toThrow('was planned as refused');
  expect(close).toHaveBeenCalledTimes(1);
  expect(run.idleStores).toHaveLength(1);
  vi.restoreAllMocks();
});

it.runIf(isDeep)(
  'the number of requests in a peripheral does not grow with the number of its similar tools',
  async () => {
    const tools = (count: number) => Array.from({ length: count }, (_, at) => `tool-${at}`);
    const requests = async (count: number) => {
      const one =
        'effect: observe, parameters: [{ name: a, role: text, description: A. }], limits: { seconds: 1, output-bytes: 9 }';
      const specs = specsOf({
        'tools.yaml': `tools:\n${tools(count)
          .map((id) => `  ${id}: { purpose: A tool., ${one} }\n`)
          .join('')}`,
        'peripherals/a.yaml': `id: a\npurpose: A peripheral.\ntools: [${tools(count).slice(1)}]\nscope: conversation\nentry: [default]\nexit: {}\n`,
      });
      const { tests, coverage } = await generateTests(specs, { crashes: false });
      for (const { name, run } of tests) if (name.startsWith('in a:')) await run();
      return coverage().requests;
    };
    expect(await requests(200)).toBeLessThan((await requests(20)) + 60);
  },
);

it.runIf(isDeep)('a chain is walked in a number of moves that grows with its length, not with the square', () => {
  const ids = Array.from({ length: 300 }, (_, at) => `p${at}`);
  const specs = chain(ids);
  const { cases } = planCases({ specs, config: makeModelConfig(specs) }, 'tester');
  const walks = cases.filter(({ group }) => group === 'walks');
  const taken = new Set(walks.flatMap(({ moves }) => itemsCoveredByMoves(specs, moves)));
  expect(specs.edges.filter(({ from, exit, to }) => !taken.has(`edge ${from} ${exit} ${to}`))).toEqual([]);
  expect(walks.flatMap(({ moves }) => moves).length).toBeLessThan(4 * ids.length);
});

/** A hub with hops to many peripherals and back. Sessions start in the hub, only by the operator, or everywhere. */
function star(
  leaves: number,
  starts: 'hub' | 'operator' | 'everywhere',
  files: { readonly [path: string]: string } = {},
) {
  const ids = Array.from({ length: leaves }, (_, at) => `p${at}`);
  const peripheral = (id: string, entry: readonly string[], exits: readonly string[]) => [
    `peripherals/${id}.yaml`,
    `id: ${id}\npurpose: A peripheral.\ntools: []\nscope: conversation\nentry: [${entry.join(', ')}]\nexit:\n${exits.join('\n')}\n`,
  ];
  const back = ids.map((id) => `from-${id}`);
  return specsOf({
    ...files,
    ...Object.fromEntries([
      peripheral(
        'hub',
        starts === 'operator' ? ['user-request'] : ['default', ...back],
        ids.map((id) => `  to-${id}: ${id}`),
      ),
      ...ids.map((id) => {
        const entry = starts === 'everywhere' ? ['default', 'from-hub'] : ['from-hub'];
        return peripheral(id, entry, ['  back: hub']);
      }),
    ]),
  });
}

it.runIf(isDeep).each([
  ['entered at first', 'hub'],
  ['that only the operator enters', 'operator'],
  ['whose exits lead to starts', 'everywhere'],
] as const)(
  'a hub %s is walked with a number of judgements that grows with its exits, not with the square',
  (_, starts) => {
    const specs = star(200, starts);
    const judged = vi.spyOn(lawfulness, 'findFirstRuleProblem');
    const { cases } = planCases({ specs, config: makeModelConfig(specs) }, 'tester');
    const count = judged.mock.calls.length;
    judged.mockRestore();
    const walks = cases.filter(({ group }) => group === 'walks');
    const taken = new Set(walks.flatMap(({ moves }) => itemsCoveredByMoves(specs, moves)));
    expect(specs.edges.filter(({ from, exit, to }) => !taken.has(`edge ${from} ${exit} ${to}`))).toEqual([]);
    const all = Object.keys(specs.peripherals).map((id) => `start ${id}`);
    if (starts === 'everywhere') expect(all.filter((item) => !taken.has(item))).toEqual([]);
    expect(count).toBeGreaterThan(specs.edges.length);
    expect(count).toBeLessThan(15 * specs.edges.length);
  },
);

const MODES_OF_PERIPHERALS = `initial: talk
modes:
  talk: { effects: [observe, coordinate] }
  work: { effects: [observe, act, coordinate], peripherals: [hub, p0, p1] }
transitions: [{ from: talk, to: work }]
reset: talk
`;

it.each([
  ['without modes', {}],
  ['with a mode that admits some peripherals', { 'gate.yaml': MODES_OF_PERIPHERALS }],
])(
  'no peripheral is searched for a new edge after all edges were taken, if every peripheral can be started, %s',
  (_, files) => {
    const specs = star(80, 'everywhere', files);
    const searches = vi.spyOn(search, 'searchRouteToGoal');
    const { cases } = planCases({ specs, config: makeModelConfig(specs) }, 'tester');
    const failed = searches.mock.results.filter(({ value }) => typeof value === 'string').length;
    searches.mockRestore();
    const started = new Set(
      cases.flatMap(({ moves }) => moves.flatMap(({ asked }) => (asked.kind === 'start' ? asked.peripheral : []))),
    );
    expect(started.size).toBe(81);
    expect(failed).toBeLessThan(20);
  },
);

it('a search without a result lists only states from which no other search finds a result', () => {
  const graph = fc.record({
    edges: fc.array(fc.tuple(fc.nat(11), fc.nat(11)), { maxLength: 30 }),
    goals: fc.uniqueArray(fc.nat(11), { maxLength: 2 }),
    roughKeys: fc.constantFrom(3, 6, 12),
    limit: fc.constantFrom(3, 100),
  });
  let named = 0;
  fc.assert(
    fc.property(graph, ({ edges, goals, roughKeys, limit }) => {
      const after = (at: number) => edges.flatMap(([from, to]) => (from === at ? [to] : []));
      const model = {
        initial: 0,
        key: (at: number) => `${at % roughKeys}`,
        moves: (at: number) => [...after(at), ...(goals.includes(at) ? [99] : [])].map((to) => ({ name: `${to}` })),
        next: (_: number, { name }: { name: string }) => Number(name),
      };
      const goalIn = (at: number) => model.moves(at).find(({ name }) => name === '99');
      const spent = new Set<string>();
      for (let at = 0; at < 12; at++) {
        const found = search.searchRouteToGoal(model, at, goalIn, limit, spent, String);
        if (found === 'not found' && roughKeys === 12) expect(spent).toContain(`${at}`);
      }
      for (const state of spent) {
        const reached = new Set([Number(state)]);
        for (const each of reached) for (const to of after(each)) reached.add(to);
        expect(goals.filter((goal) => reached.has(goal))).toEqual([]);
      }
      named += spent.size;
    }),
  );
  expect(named).toBeGreaterThan(100);
});

it('a planned state holds the visits and fruits that rules read, and no others, however long the walk is', () => {
  const peripheral = (id: string, context: string, exit: string) => [
    `peripherals/${id}.yaml`,
    `id: ${id}\npurpose: A peripheral.\ntools: []\nscope: conversation\nentry: [default, from-any]\ncontext: ${context}\nfruit: { note: { stated: string } }\nexit: ${exit}\n`,
  ];
  const peripherals = [
    peripheral('a', '{}', '{ next: b }'),
    peripheral('b', '{ note: from-a }', '{ next: c }'),
    peripheral('c', '{}', '{ next: a }'),
  ];
  const held = (rule: string) => {
    const conditions = { 'conditions.yaml': `conditions: { often: "${rule}" }\n` };
    const specs = specsOf({ ...Object.fromEntries(peripherals), ...conditions });
    const pinned = { specs, config: makeModelConfig(specs) };
    const walk = ['b', 'c', 'a', 'b'].map(
      (to): Move => ({
        name: to,
        asked: { kind: 'hop', to, exit: 'next', reason: 'r', by: 'agent', fruit: { note: to }, approves: true },
      }),
    );
    const start: Move = { name: 'a', asked: { kind: 'start', peripheral: 'a', by: 'agent' } };
    const { visits, fruits } = [start, ...walk].reduce(
      (state, move) => predictStateAfterMove(pinned, state, move),
      initialAuditState(pinned, { agent: 'tester', sessionId: 'planned' }),
    );
    return { visits, fruits: Object.keys(fruits) };
  };
  expect(held('session.steps > 3')).toEqual({ visits: { b: 1 }, fruits: ['a'] });
  expect(held('visits.b > 1')).toEqual({ visits: { a: 2, b: 2, c: 1 }, fruits: ['a'] });
});

it('the sessions of a spec set share its hash, its pin and its machines: a thousand walks do not compute them again', async () => {
  let read = 0;
  const { peripherals, ...others } = ring(4, 1);
  const specs = Object.defineProperty({ ...others } as SpecSet, 'peripherals', {
    enumerable: true,
    get: () => {
      read += 1;
      return peripherals;
    },
  });
  const use = async () => {
    read = 0;
    hashSpecs(specs);
    await storePin(memory.memoryStore(), { specs, config: MADE_UP_CONFIG });
    void compileSpecTables(specs).hopGraph;
    return read;
  };
  expect(await use()).toBeGreaterThan(0);
  expect(await use()).toBe(0);
});

it('a rule about arguments does not multiply the planned states of a small spec set', () => {
  const pinned = (rule: string) => {
    const specs = specsOf({
      'tools.yaml': `tools:
  pay: { purpose: P., effect: act, parameters: [{ name: n, role: text, description: N., schema: { type: integer } }], limits: { seconds: 5, output-bytes: 99 }, gates: [{ when: "${rule}" }] }
`,
      'peripherals/a.yaml':
        'id: a\npurpose: P.\ntools: [pay]\nscope: conversation\nentry: [default, from-b]\nexit: { on: b }\ngates: { b: [{ when: visit.steps > 1 }] }\n',
      'peripherals/b.yaml': 'id: b\npurpose: P.\ntools: []\nscope: conversation\nentry: [from-a]\nexit: { back: a }\n',
    });
    return { specs, config: makeModelConfig(specs) };
  };
  expect(planCases(pinned('args.n <= 500'), 'tester').large).toBe(false);
  expect(planCases(pinned('args.n <= 500 + visit.steps'), 'tester').large).toBe(true);
});

it.runIf(isDeep)(
  'a small spec set whose rules distinguish many states is tested with each rule and each limit',
  async () => {
    const { tests, large, coverage } = await generateTests(
      specsOf({
        'tools.yaml': `tools:
  weigh: { purpose: W., effect: observe, parameters: [], limits: { seconds: 5, output-bytes: 99 }, observes: { weight: number, scale: [pass, fail] } }
  load: { purpose: L., effect: act, parameters: [], limits: { seconds: 5, output-bytes: 99 } }
`,
        'peripherals/a.yaml':
          'id: a\npurpose: P.\ntools: [weigh, load]\nscope: conversation\nentry: [default, from-b]\nexit: { on: b }\ngates: { b: [{ when: fruit.weight < 7.5 && visit.steps < 30 && session.visits < 20 }] }\nlimits: { steps: 40 }\n',
        'peripherals/b.yaml':
          'id: b\npurpose: P.\ntools: [weigh]\nscope: conversation\nentry: [from-a, scale-passed]\nexit: { back: { to: a, when: backpack.weight < 2 } }\nlimits: { minutes: 5 }\n',
      }),
    );
    expect(large).toBe(true);
    for (const { run } of tests) await run();
    expect(coverage().rows.find(({ what }) => what === 'gates')).toMatchObject({ covered: 3, reachable: 3 });
    const names = tests.map(({ name }) => name);
    expect(names).toContain('a: 40 steps are the limit');
    expect(names).toContain('b: 5 minutes are the limit');
  },
);

it.runIf(isDeep)('a passed check is tested before and after a change', async () => {
  const { tests, large, coverage } = await generateTests(
    specsOf({
      'tools.yaml': `tools:
  weigh: { purpose: W., effect: observe, parameters: [], limits: { seconds: 5, output-bytes: 99 }, observes: { scale: [pass, fail] } }
  load: { purpose: L., effect: act, parameters: [], limits: { seconds: 5, output-bytes: 99 } }
`,
      'peripherals/a.yaml':
        'id: a\npurpose: P.\ntools: [weigh, load]\nscope: conversation\nentry: [default]\nexit: { pass: b }\nfruit: { scale: { observed: [pass, fail] } }\n',
      'peripherals/b.yaml':
        'id: b\npurpose: P.\ntools: []\nscope: conversation\nentry: [from-a, scale-passed]\nexit: {}\n',
    }),
  );
  expect(large).toBe(false);
  for (const { run } of tests) await run();
  // Without a change, the exit is always refused first.
  expect(coverage().rows.find(({ what }) => what === 'gates')).toMatchObject({ covered: 2, reachable: 2 });
});
