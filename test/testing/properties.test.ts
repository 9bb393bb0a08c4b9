import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { proveAndFindWarnings, proveProperties } from '../../src/audit/properties/prove-properties.ts';
import { loadBuiltInCatalogue, loadSpecs } from '../../src/spec/load/load-specs.ts';
import { parseSpecSet } from '../../src/spec/resolve/parse-spec-set.ts';
import type { SpecSet } from '../../src/spec/types.ts';
import { depth, isDeep } from '../depth.ts';
import { GATE, grid, REVIEW, RUNBOOK, specsOf } from './spec-sets.ts';

const broken = (specs: SpecSet) => proveProperties(specs).filter(({ holds }) => !holds);

const peripheral = (id: string, rest: string) => ({
  [`peripherals/${id}.yaml`]: `id: ${id}\npurpose: A peripheral.\n${rest}`,
});
const LOOK = 'tools: [read]\nscope: full-codebase\n';
const HOME = 'tools: [musn-log]\nscope: session-log-only\nfruit: { par: { observed: object } }\n';

describe('the check of the built-in properties', () => {
  it.runIf(isDeep)('accepts the built-in specs, a review pipeline, a runbook and a grid', async () => {
    expect(broken(await loadSpecs('default'))).toEqual([]);
    expect(broken(specsOf(REVIEW))).toEqual([]);
    expect(broken(specsOf(RUNBOOK))).toEqual([]);
    expect(broken(specsOf(grid(200, 20)))).toEqual([]);
  });

  it('shows the path to a dead end', () => {
    const specs = specsOf({
      ...peripheral('one', `${LOOK}entry: [default, from-home]\nexit: { on: two, hop-home: home }\n`),
      ...peripheral('two', `${LOOK}entry: [from-one]\nexit: {}\n`),
      ...peripheral('home', `${HOME}entry: [from-any]\nexit: { again: one }\n`),
    });
    expect(broken(specs)).toEqual([
      {
        property: 'way-back',
        holds: false,
        message: 'from two no hops lead to home',
        path: ['start one', 'one ─on→ two'],
      },
    ]);
  });

  it('accepts a single peripheral without exits, because there is no other peripheral to hop to', () => {
    const desk = peripheral('desk', `${LOOK}entry: [default]\nexit: []\n`);
    expect(broken(specsOf(desk))).toEqual([]);
    const other = peripheral('other', `${LOOK}entry: [default]\nexit: []\n`);
    expect(broken(specsOf({ ...desk, ...other })).map(({ property }) => property)).toEqual(['way-back']);
  });

  it('assumes that a tool’s check has passed only after a visit to a peripheral whose tools observe it', () => {
    const check = {
      'tools.yaml': `tools:\n  lint: { purpose: Lints., effect: act, parameters: [], limits: { seconds: 1, output-bytes: 100 }, observes: { style: [pass, fail] } }\n`,
    };
    const linted = `tools: [lint]\nscope: full-codebase\n`;
    const specs = (one: string, two: string, gate = {}) =>
      specsOf({
        ...check,
        ...gate,
        ...peripheral('one', `${linted}entry: [default, from-two${one}]\nexit: { on: two }\n`),
        ...peripheral('two', `${LOOK}entry: [from-one${two}]\nexit: { again: one }\n`),
      });
    const messages = (...set: Parameters<typeof specs>) => broken(specs(...set)).map(({ message }) => message);
    expect(messages('', ', style-passed')).toEqual([]);
    expect(messages(', style-passed', '')).toContainEqual(expect.stringContaining('no session can reach one'));
    // The operator can start two, whose tool reports the check, but not one as the first visit.
    const alone = { ...check, ...peripheral('one', `${linted}entry: [default, style-passed]\nexit: {}\n`) };
    const both = specsOf({ ...alone, ...peripheral('two', `${linted}entry: [default]\nexit: {}\n`) });
    expect(broken(both).map(({ message }) => message)).toContain('no session can reach one: nothing leads there');
    const watch = {
      'gate.yaml': 'initial: watch\nmodes: { watch: { effects: [observe] } }\ntransitions: []\nreset: watch\n',
    };
    expect(messages('', ', style-passed', watch)).toContainEqual(expect.stringContaining('no session can reach two'));
  });

  it('finds an exit whose observed value no tool of the peripheral reports', () => {
    const specs = (tool: string) =>
      specsOf({
        'tools.yaml': `tools:\n  lint: { purpose: Lints., effect: observe, parameters: [], limits: { seconds: 1, output-bytes: 100 }, observes: { style: [pass, fail] } }\n`,
        ...peripheral(
          'one',
          `tools: [${tool}]\nscope: full-codebase\nentry: [default, from-two]\nexit: { pass: two }\nfruit: { style: { observed: [pass, fail] } }\n`,
        ),
        ...peripheral('two', `tools: [lint]\nscope: full-codebase\nentry: [from-one]\nexit: { again: one }\n`),
      });
    expect(broken(specs('lint'))).toEqual([]);
    expect(broken(specs('read')).map(({ message }) => message)).toContain(
      'no session can reach two: one ─pass→ two never opens (no tool of one reports style)',
    );
  });

  it('finds a gate that can never open', () => {
    const specs = (cel: string) =>
      specsOf({
        ...peripheral(
          'one',
          `${LOOK}entry: [default, from-home]\nexit: { on: home }\nfruit: { n: { stated: integer } }\ngates: { home: [{ when: "${cel}" }] }\n`,
        ),
        ...peripheral('home', `${HOME}entry: [from-one]\nexit: { again: one }\n`),
      });
    const shut = 'one ─on→ home never opens (the gate "fruit.n > 3 && fruit.n < 3" cannot hold)';
    expect(broken(specs('fruit.n > 3 && fruit.n < 3')).map(({ message }) => message)).toEqual([
      `no session can reach home: ${shut}`,
      `from one no hops lead to home: ${shut}`,
    ]);
    expect(broken(specs('fruit.n > 3 && fruit.n < 5'))).toEqual([]);
    expect(broken(specs('visit.steps >= 2'))).toEqual([]);
  });

  it('is fast with many peripherals that run tests', () => {
    const TESTS =
      'tools: [bash-test]\nscope: test-commands-only\nfruit: { result: { observed: [pass, fail, flaky] } }\n';
    const at = (x: number) => `t-${x % 40}`;
    const ring = Object.assign(
      {},
      ...Array.from({ length: 40 }, (_, x) =>
        peripheral(
          at(x),
          `${TESTS}entry: [${x === 0 ? 'default, ' : ''}from-any]\nexit: { pass: ${at(x + 1)}, fail: ${at(x + 2)}, flaky: ${at(x + 3)} }\n`,
        ),
      ),
    );
    const rules = 'properties:\n  - never: { hop: t-1, without: [t-0.pass, t-39.fail] }\n';
    expect(broken(specsOf({ ...ring, 'properties.yaml': rules }))).toMatchObject([
      { message: 't-1 can be entered without t-0.pass' },
    ]);
    const kept = 'properties:\n  - never: { hop: t-1, without: [t-39.fail] }\n';
    expect(broken(specsOf({ ...ring, 'properties.yaml': kept }))).toMatchObject([
      { message: 't-1 can be entered without t-39.fail' },
    ]);
    // If the state contained the result of each peripheral, the search would never end in practice.
  });

  it('finds a peripheral that both changes and ships code', () => {
    const specs = specsOf(
      peripheral(
        'all',
        'tools: [edit, bash-git]\nscope: { paths: [src/] }\nentry: [default, from-any]\nexit: { again: all }\n',
      ),
    );
    expect(broken(specs).map(({ property }) => property)).toContain('apart');
  });
});

const SHOP = {
  ...peripheral(
    'edit',
    'tools: [edit]\nscope: { paths: [src/] }\nentry: [default, from-test]\nexit: { done: test, rush: ship }\n',
  ),
  ...peripheral(
    'test',
    'tools: [bash-test]\nscope: test-commands-only\nentry: [from-edit]\nexit: { pass: ship, fail: edit }\nfruit: { result: { observed: [pass, fail, flaky] } }\n',
  ),
};
const SHIP = 'tools: [bash-git]\nscope: git-push-only\nexit: {}\n';
const stated = (rules: string, ship: string) =>
  broken(specsOf({ ...SHOP, ...peripheral('ship', SHIP + ship), 'properties.yaml': `properties:\n${rules}` })).filter(
    ({ property }) => property.startsWith('{'),
  );

const notes = (specs: SpecSet) => proveAndFindWarnings(specs).notes.map(({ code, message }) => `${code}: ${message}`);

describe('the check of agents, modes and conditions', () => {
  it('finds a peripheral that no single agent can reach', () => {
    const specs = specsOf({
      ...peripheral('one', `${LOOK}agents: [ann, bob]\nentry: [default, from-any]\nexit: { on: two }\n`),
      ...peripheral('two', `${LOOK}agents: [ann]\nentry: [from-one]\nexit: { on: three, back: one }\n`),
      ...peripheral('three', `${LOOK}agents: [bob]\nentry: [from-two]\nexit: { on: one }\n`),
    });
    expect(broken(specs).map(({ message }) => message)).toContain(
      'no session can reach three: two ─on→ three never opens (the agent may not enter three)',
    );
    // A dead end for bob, and none for ann.
    expect(broken(specs).find(({ property }) => property === 'way-back')).toMatchObject({
      message:
        'one is a dead end: no hop out of it can ever be taken: one ─on→ two never opens (the agent may not enter two)',
      path: ['as agent bob', 'start one'],
    });
  });

  it('names the requirement that blocks an edge in every state', () => {
    const specs = specsOf({
      ...peripheral(
        'one',
        'tools: [bash-test]\nscope: test-commands-only\nentry: [default, from-any]\nfruit: { result: { observed: [pass, fail, flaky] } }\nexit: { fail: [two, one], pass: { to: one, when: "visit.steps > 3 && visit.steps < 2" } }\n',
      ),
      ...peripheral('two', `${LOOK}entry: [from-one, tests-passed]\nexit: { on: one }\n`),
    });
    expect(broken(specs)[0]?.message).toBe(
      'no session can reach two: one ─fail→ two never opens (always result is not fail, or the condition "tests-passed" cannot hold)',
    );
    expect(notes(specs)).toEqual([
      'dead-exit: pass never opens one: the rule "visit.steps > 3 && visit.steps < 2" of pass cannot hold',
    ]);
  });

  it('finds an exit whose rules exclude each other, and one that nobody may use', () => {
    const specs = specsOf({
      'conditions.yaml': `conditions: { sure: "fruit.n > 3", first: "visits.two == 0" }\n`,
      ...peripheral(
        'one',
        `${LOOK}entry: [default, from-two, first]\nfruit: { n: { stated: integer } }\nexit: { on: two, user-request: three, hop-three: three }\ngates: { two: [{ when: fruit.n < 2 }] }\n`,
      ),
      ...peripheral(
        'two',
        `${LOOK}entry: [from-one, from-three, sure]\nexit: { again: one }\nfruit: { n: { stated: integer } }\n`,
      ),
      ...peripheral('three', `${LOOK}entry: [agent-request]\nexit: { on: two }\nfruit: { n: { stated: integer } }\n`),
    });
    expect(broken(specs).map(({ message }) => message)).toContain(
      'no session can reach two: one ─on→ two never opens (its rules "fruit.n < 2", "fruit.n > 3" cannot hold together), three ─on→ two never opens (its rules "fruit.n < 2", "fruit.n > 3" cannot hold together)',
    );
    expect(notes(specs)).toEqual([
      'dead-exit: user-request never opens three: only the operator can use user-request, and three admits only a request of the agent',
    ]);
  });

  it('finds an exit that a visit closes before it can be taken, and one that opens only after a visit of its target', () => {
    const specs = specsOf({
      ...peripheral('one', `${LOOK}entry: [default, from-two]\nexit: { on: two }\n`),
      ...peripheral(
        'two',
        `${LOOK}entry: [from-one]\nexit: { back: { to: one, when: visits.two < 1 }, on: { to: three, when: visits.three > 0 } }\n`,
      ),
      ...peripheral('three', `${LOOK}entry: [from-two]\nexit: {}\n`),
    });
    expect(broken(specs)[0]?.message).toBe(
      'no session can reach three: two ─on→ three never opens (the rule "visits.three > 0" of on cannot hold)',
    );
    expect(notes(specs)).toEqual(['dead-exit: back never opens one: the rule "visits.two < 1" of back cannot hold']);
  });

  it('finds modes that no session reaches, and peripherals that need the operator', () => {
    const gate = GATE.replace('  - { from: diagnose, to: execute, approval: operator }\n', '');
    const specs = specsOf({
      'gate.yaml': gate,
      ...peripheral('one', `${LOOK}entry: [default, from-any]\nexit: { user-request: two, on: one }\n`),
      ...peripheral('two', `${LOOK}entry: [user-request]\nexit: { user-request: one }\n`),
    });
    expect(notes(specs)).toEqual([
      'lost-mode: no session can reach the mode execute',
      'operator-only: only the operator can hop out of one',
      'operator-only: only the operator can enter two',
      'operator-only: only the operator can hop out of two',
    ]);
  });

  it('gives no warning for the built-in specs', async () => expect(notes(await loadSpecs('default'))).toEqual([]));
});

describe('the check of a spec set’s own properties', () => {
  it('shows the path to an unguarded deploy', () => {
    expect(stated('  - never: { hop: ship, without: [test.pass] }\n', 'entry: [from-test, from-edit]\n')).toEqual([
      expect.objectContaining({
        message: 'ship can be entered without test.pass',
        path: ['start edit', 'edit ─rush→ ship'],
      }),
    ]);
    expect(stated('  - never: { hop: ship, without: [test.pass] }\n', 'entry: [from-test]\n')).toEqual([]);
    expect(stated('  - never: { hop: ship, without: [approval] }\n', 'entry: [from-test]\n')[0]?.path).toEqual([
      'start edit',
      'edit ─done→ test',
      'test: tests pass',
      'test ─pass→ ship',
    ]);
  });

  it('does not count a pass from before the last change', () => {
    const rule = '  - never: { hop: ship, without: [test.pass] }\n  - before: { first: test, then: ship }\n';
    expect(stated(rule, 'entry: [from-test, from-edit]\n').map(({ message }) => message)).toEqual([
      'ship can be entered without test.pass',
      'ship can be reached without test before',
    ]);
  });

  it('accepts both peripherals and tools under `exclusive`', () => {
    expect(stated('  - exclusive: [edit, ship]\n', 'entry: [from-test, from-edit]\n')[0]?.path).toEqual([
      'start edit',
      'edit ─rush→ ship',
    ]);
    expect(stated('  - exclusive: [edit, ship]\n', 'entry: [from-test]\n')).toEqual([]);
    expect(stated('  - exclusive: [write, bash-git]\n', 'entry: [from-test]\n')).toEqual([]);
  });

  it('reports the position of a typo, with the nearest name', async () => {
    const source = (text: string) => [
      { file: 'properties.yaml', text },
      ...Object.entries({ ...SHOP, ...peripheral('ship', `${SHIP}entry: [from-test]\n`) }).map(([file, text]) => ({
        file,
        text,
      })),
    ];
    const parsed = parseSpecSet(
      source(
        'properties:\n  - never: { hop: shp, without: [test.pas, aproval] }\n  - befor: { first: test, then: ship }\n',
      ),
      await loadBuiltInCatalogue(),
    );
    expect(parsed.ok ? [] : parsed.problems.map(({ path, suggestion }) => `${path} ${suggestion}`)).toEqual([
      'properties.1.befor did you mean "before"?',
      'properties.0.never.hop did you mean "ship"?',
      'properties.0.never.without.0 did you mean "test.pass"?',
      'properties.0.never.without.1 did you mean "approval"?',
    ]);
  });
});

// ── comparison with brute force: all runs of a small graph ──

const IDS = ['a', 'b', 'c', 'd'];
type Graph = { readonly from: string; readonly to: string; readonly approval: boolean }[];
const graphs: fc.Arbitrary<Graph> = fc.uniqueArray(
  fc.record({ from: fc.constantFrom(...IDS), to: fc.constantFrom(...IDS), approval: fc.boolean() }),
  { maxLength: 8, selector: ({ from, to }) => `${from}${to}` },
);

/** One tool and one scope: reading the built-in ones for each set takes most of the time. */
const SMALL = [
  {
    file: 'tools.yaml',
    text: 'tools: { read: { purpose: Reads., effect: observe, parameters: [], limits: { seconds: 1, output-bytes: 10 } } }\n',
  },
  { file: 'scopes.yaml', text: 'scopes: { full-codebase: { read: root, write: [], command: none, url: none } }\n' },
];

const specOfGraph = (graph: Graph, rules: string): SpecSet =>
  specsOf(
    {
      ...Object.assign(
        {},
        ...IDS.map((id) => {
          const own = graph.filter(({ from }) => from === id);
          const exits = own.map(({ to }) => `to-${to}: ${to}`).join(', ');
          return peripheral(id, `${LOOK}entry: [${id === 'a' ? 'default, ' : ''}from-any]\nexit: { ${exits} }\n`);
        }),
      ),
      'properties.yaml': `properties:\n${rules}`,
    },
    SMALL,
  );

/** Every run from the start, of up to so many hops, as the peripherals it comes through. */
function runs(graph: Graph, length: number): string[][] {
  const all: string[][] = [['a']];
  for (const run of all) {
    if (run.length > length) continue;
    for (const { from, to } of graph) if (from === run.at(-1)) all.push([...run, to]);
  }
  return all;
}

it('an empty property, or one with an unknown name, is a problem', async () => {
  const files = { ...SHOP, ...peripheral('ship', `${SHIP}entry: [from-test]\n`) };
  const text = `properties:
  - {}
  - never: { hop: ship, without: [] }
  - never: { mode: execute, without: [approval] }
  - before: { first: diagnose, then: ship }
  - never: { hop: ship, without: [diagnose] }
  - exclusive: [edit]
  - exclusive: [edit, bash-tset]
  - always: { eventualy: ship }
`;
  const sources = [{ file: 'properties.yaml', text }, ...Object.entries(files).map(([file, text]) => ({ file, text }))];
  const parsed = parseSpecSet(sources, await loadBuiltInCatalogue());
  expect(
    parsed.ok ? [] : parsed.problems.map(({ line, path, message }) => `${line} ${path}: ${message}`).sort(),
  ).toEqual([
    '2 properties.0: is empty',
    '3 properties.1.never.without: an empty list makes this property true in every spec set',
    '4 properties.2.never.mode: this spec set has no gate.yaml, so no modes',
    '5 properties.3.before.first: there is no peripheral or mode "diagnose"',
    '6 properties.4.never.without.0: "diagnose" is not a known requirement',
    '7 properties.5.exclusive: needs two names',
    '8 properties.6.exclusive.1: there is no peripheral "bash-tset"',
    '9 properties.7.always.eventualy: unknown key "eventualy"',
  ]);
});

it('the proof agrees with an exhaustive search on small random graphs', () => {
  const seen = { true: 0, false: 0 };
  fc.assert(
    fc.property(graphs, fc.constantFrom(...IDS), fc.constantFrom(...IDS), (graph, x, y) => {
      fc.pre(x !== y);
      const rules = `  - before: { first: ${x}, then: ${y} }\n  - always: { eventually: ${x} }\n  - exclusive: [${x}, ${y}]\n  - never: { hop: ${y}, without: [${x}] }\n`;
      const [before, eventually, exclusive, never] = proveProperties(specOfGraph(graph, rules))
        .filter(({ property }) => property.startsWith('{'))
        .map(({ holds }) => holds);
      const all = runs(graph, 4);
      const cameWithout = (run: string[]) => run.includes(y) && !run.slice(0, run.indexOf(y)).includes(x);
      const ends = new Set(all.map((run) => run.at(-1)!));
      const reach = (from: string) => {
        const peripherals = [from];
        for (const at of peripherals)
          for (const edge of graph) if (edge.from === at && !peripherals.includes(edge.to)) peripherals.push(edge.to);
        return peripherals;
      };
      const hop = (from: string, to: string) =>
        ends.has(from) && graph.some((edge) => edge.from === from && edge.to === to);
      const truth = [
        !all.some(cameWithout),
        [...ends].every((end) => reach(end).includes(x)),
        !hop(x, y) && !hop(y, x),
        !all.some(cameWithout),
      ];
      expect([before, eventually, exclusive, never]).toEqual(truth);
      for (const verdict of truth) seen[`${verdict}`] += 1;
    }),
    { numRuns: depth(75, 150) },
  );
  expect(Math.min(seen.true, seen.false)).toBeGreaterThan(depth(25, 50));
});

// ── random spec sets against a search over every agent, mode and condition ──

const RULES: { readonly [condition: string]: { readonly cel: string; readonly holds: (now: At) => boolean } } = {
  'is-ann': { cel: 'session.agent == "ann"', holds: ({ agent }) => agent === 'ann' },
  'is-not-ann': { cel: 'session.agent != "ann"', holds: ({ agent }) => agent !== 'ann' },
  executes: { cel: 'session.mode == "execute"', holds: ({ mode }) => mode === 'execute' },
  never: { cel: 'session.agent == "ann" && session.agent == "bob"', holds: () => false },
  'before-b': { cel: 'visits.b == 0', holds: ({ visited }) => !visited.includes('b') },
  'after-c': { cel: 'visits.c > 0', holds: ({ visited }) => visited.includes('c') },
};
const NAMES = ['ann', 'bob'];
const MODE_NAMES = ['discuss', 'diagnose', 'execute'];

interface At {
  readonly agent: string;
  readonly peripheral: string;
  readonly mode: string;
  readonly began: boolean;
  /** The peripherals b and c, if they were visited, in this order. */
  readonly visited: string;
}
interface Way {
  readonly from: string;
  readonly to: string;
  readonly steps: number | null;
  readonly operator: boolean;
}
interface Peripheral {
  readonly sources: readonly string[];
  readonly condition: string | null;
  readonly gate: string | null;
  readonly agents: readonly string[];
  readonly limit: number;
}
interface Rich {
  readonly ways: readonly Way[];
  readonly peripherals: { readonly [id: string]: Peripheral };
  readonly modes: { readonly [mode: string]: readonly string[] };
  readonly moves: readonly { readonly from: string; readonly to: string; readonly approved: boolean }[];
}

const most = (values: readonly string[]) =>
  fc.oneof(fc.constant([...values]), fc.subarray([...values], { minLength: 1 }));
const rule = fc.option(fc.constantFrom(...Object.keys(RULES)), { freq: 2 });
const aPeripheral: fc.Arbitrary<Peripheral> = fc.record({
  sources: fc.oneof(
    fc.constant(['from-any']),
    fc.subarray(['default', 'session-close', 'user-request', 'from-any'], { minLength: 1 }),
  ),
  condition: rule,
  gate: fc.oneof(rule, fc.constant('approval')),
  agents: fc.oneof(fc.constant([]), fc.subarray(NAMES)),
  limit: fc.integer({ min: 1, max: 4 }),
});
const rich: fc.Arbitrary<Rich> = fc.record({
  ways: fc.uniqueArray(
    fc.record({
      from: fc.constantFrom(...IDS),
      to: fc.constantFrom(...IDS),
      steps: fc.option(fc.integer({ min: 0, max: 3 })),
      operator: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
    }),
    { minLength: 2, maxLength: 10, selector: ({ from, to }) => `${from}${to}` },
  ),
  peripherals: fc.record(Object.fromEntries(IDS.map((id) => [id, aPeripheral]))),
  modes: fc.record(Object.fromEntries(MODE_NAMES.map((mode) => [mode, most(IDS)]))),
  moves: fc.uniqueArray(
    fc.record({ from: fc.constantFrom(...MODE_NAMES), to: fc.constantFrom(...MODE_NAMES), approved: fc.boolean() }),
    { maxLength: 4, selector: ({ from, to }) => `${from}${to}` },
  ),
});

const exitOf = ({ to, operator }: Way) => (operator ? 'user-request' : `to-${to}`);
/** The first peripheral always has a start, so that sessions exist. */
const sourcesOf = ({ peripherals }: Rich, id: string) => [
  ...new Set([...(id === 'a' ? ['default'] : []), ...peripherals[id]!.sources]),
];
const admitsHops = (sources: readonly string[]) => sources.includes('from-any') || sources.includes('user-request');

function specOfRich(draft: Rich): SpecSet {
  const { ways, peripherals, modes, moves } = draft;
  const transitions = moves
    .filter(({ from, to }) => from !== to)
    .map(({ from, to, approved }) => `{ from: ${from}, to: ${to}${approved ? ', approval: operator' : ''} }`);
  const gate = [
    'initial: discuss',
    `modes: { ${MODE_NAMES.map((mode) => `${mode}: { effects: [observe], peripherals: [${modes[mode]}] }`).join(', ')} }`,
    `transitions: [${transitions.join(', ')}]`,
    'reset: discuss',
  ];
  /** The gates in the file of one of the peripherals that open the gated one: they apply to all ways to it. */
  const gatesIn = (file: string) =>
    IDS.flatMap((id) => {
      const is = peripherals[id]!.gate;
      if (is === null || ways.find(({ to }) => to === id)?.from !== file) return [];
      return [`${id}: [${is === 'approval' ? '{ approval: operator }' : `{ when: '${RULES[is]!.cel}' }`}]`];
    });
  const files = IDS.map((id) => {
    const own = Map.groupBy(
      ways.filter(({ from }) => from === id),
      exitOf,
    );
    const exits = [...own].map(
      ([exit, list]) =>
        `${exit}: [${list.map(({ to, steps }) => (steps === null ? to : `{ to: ${to}, when: visit.steps > ${steps} }`)).join(', ')}]`,
    );
    const { agents, condition, limit } = peripherals[id]!;
    const names = agents.length === 0 ? '' : `agents: [${agents}]\n`;
    const entry = `entry: [${[...sourcesOf(draft, id), ...(condition === null ? [] : [condition])].join(', ')}]`;
    const more = `gates: { ${gatesIn(id).join(', ')} }\n`;
    return peripheral(
      id,
      `${LOOK}${names}${entry}\nlimits: { steps: ${limit} }\nexit: { ${exits.join(', ')} }\n${more}`,
    );
  });
  const conditions = Object.entries(RULES).map(([name, { cel }]) => `  ${name}: '${cel}'\n`);
  const set = {
    'gate.yaml': `${gate.join('\n')}\n`,
    'conditions.yaml': `conditions:\n${conditions.join('')}`,
    ...Object.assign({}, ...files),
  };
  return specsOf(set, SMALL);
}

/**
 * The union of all sessions: their peripherals and modes, and for each move the reasons that block it in each state.
 */
interface Seen {
  readonly peripherals: Set<string>;
  readonly modes: Set<string>;
  readonly entered: Set<string>;
  readonly blocks: Map<Way, string[][]>;
}

function search(draft: Rich): Seen {
  const { ways, peripherals, modes, moves } = draft;
  const seen: Seen = { peripherals: new Set(), modes: new Set(), entered: new Set(), blocks: new Map() };
  const known = new Set<string>();
  const todo: At[] = [...NAMES, 'eve'].map((agent) => ({
    agent,
    peripheral: '',
    mode: 'discuss',
    began: false,
    visited: '',
  }));
  const enter = (now: At, peripheral: string): At => {
    const visited = ['b', 'c'].filter((id) => id === peripheral || now.visited.includes(id)).join('');
    return { ...now, peripheral, visited };
  };
  const named = (id: string, { agent }: At) =>
    peripherals[id]!.agents.length === 0 || peripherals[id]!.agents.includes(agent);
  for (const now of todo) {
    const key = JSON.stringify(now);
    if (known.has(key)) continue;
    known.add(key);
    seen.peripherals.add(now.peripheral);
    seen.modes.add(now.mode);
    if (now.peripheral === '') {
      for (const id of IDS) {
        const sources = sourcesOf(draft, id);
        const alone = sources.includes(now.began ? 'session-close' : 'default');
        const { condition } = peripherals[id]!;
        const lawful = condition === null || RULES[condition]!.holds(now);
        if (!(alone || sources.includes('user-request')) || !lawful) continue;
        if (!modes[now.mode]!.includes(id) || !named(id, now)) continue;
        if (alone) seen.entered.add(id);
        todo.push({ ...enter(now, id), began: true });
      }
    } else todo.push({ ...now, peripheral: '' });
    for (const way of ways) {
      const { from, to, steps } = way;
      if (from !== now.peripheral || !admitsHops(sourcesOf(draft, to))) continue;
      const { condition, gate } = peripherals[to]!;
      const blocks = [
        ...(steps !== null && peripherals[from]!.limit <= steps
          ? [`the rule "visit.steps > ${steps}" of ${exitOf(way)} cannot hold`]
          : []),
        ...(modes[now.mode]!.includes(to) ? [] : [`the mode does not admit ${to}`]),
        ...(named(to, now) ? [] : [`the agent may not enter ${to}`]),
        ...(condition !== null && !RULES[condition]!.holds(now) ? [`the condition "${condition}" cannot hold`] : []),
        ...(gate !== null && gate !== 'approval' && !RULES[gate]!.holds(now)
          ? [`the gate "${RULES[gate]!.cel}" cannot hold`]
          : []),
      ];
      seen.blocks.set(way, [...(seen.blocks.get(way) ?? []), blocks]);
      if (blocks.length > 0) continue;
      const operators = way.operator || !sourcesOf(draft, to).includes('from-any');
      if (!operators && from !== to) seen.entered.add(to);
      todo.push(enter(now, to));
    }
    for (const { from, to } of moves) if (from === now.mode && from !== to) todo.push({ ...now, mode: to });
    todo.push({ ...now, mode: 'discuss' });
  }
  return seen;
}

/** True if a reason names a requirement that blocks in every state, or, where there is none, all that ever block. */
function isTrueReason(reason: string, states: readonly (readonly string[])[]): boolean {
  const all = [...new Set(states.flat())];
  const everywhere = all.filter((block) => states.every((blocks) => blocks.includes(block)));
  if (everywhere.length > 0) return everywhere.includes(reason);
  return reason === `always ${all.join(', or ')}` || sameParts(reason, all);
}
const sameParts = (reason: string, all: readonly string[]): boolean =>
  reason
    .replace(/^always /, '')
    .split(', or ')
    .toSorted()
    .join('\n') === all.toSorted().join('\n');

/** `HOPGATE_GRAPHS=10000` tries as many random hop graphs, which takes minutes. */
const GRAPHS = Number(process.env['HOPGATE_GRAPHS'] ?? depth(60, 1500));

it('the proofs, notes and reasons agree with a search over every agent, mode, condition and limit', () => {
  const count = { lost: 0, dead: 0, several: 0, modes: 0, operator: 0 };
  fc.assert(
    fc.property(rich, (draft) => {
      const { proofs, notes } = proveAndFindWarnings(specOfRich(draft));
      const { peripherals, modes, entered, blocks } = search(draft);
      const warned = (code: string) => notes.filter((note) => note.code === code);

      const lost = proofs.flatMap(({ property, message }) => (property === 'reachable' && message ? [message] : []));
      const named = lost.map((message) => message.replace(/^no session can reach ([a-d]):.*/, '$1'));
      expect(named).toEqual(IDS.filter((id) => !peripherals.has(id)));

      const isShut = (way: Way) => blocks.get(way)?.every((list) => list.length > 0) ?? false;
      const shut = draft.ways.filter(isShut);
      const dead = shut.filter(({ to }) => peripherals.has(to));
      const pathOf = (way: Way) => `peripherals.${way.from}.exit.${exitOf(way)}`;
      expect(
        warned('dead-exit')
          .map(({ path }) => path)
          .toSorted(),
      ).toEqual(dead.map(pathOf).toSorted());
      for (const { path, message } of warned('dead-exit')) {
        const way = dead.find((one) => pathOf(one) === path && message.includes(` never opens ${one.to}: `))!;
        const reason = message.replace(/^\S+ never opens \S+: /, '');
        expect(isTrueReason(reason, blocks.get(way)!), `${message} ${JSON.stringify(blocks.get(way))}`).toBe(true);
        if (reason.startsWith('always ')) count.several += 1;
      }
      for (const message of lost) {
        for (const [, from, exit, to, reason] of message.matchAll(
          /([a-d]) ─(\S+)→ ([a-d]) never opens \((.*?)\)(?=, |$)/g,
        )) {
          const way = draft.ways.find((one) => one.from === from && exitOf(one) === exit && one.to === to)!;
          if (!peripherals.has(from!)) expect(reason).toBe(`no session reaches ${from}`);
          else expect(isTrueReason(reason!, blocks.get(way)!), message).toBe(true);
        }
      }

      expect(warned('lost-mode').map(({ path }) => path)).toEqual(
        MODE_NAMES.filter((mode) => !modes.has(mode)).map((mode) => `gate.modes.${mode}`),
      );

      const open = draft.ways.filter((way) => blocks.has(way) && !isShut(way) && way.from !== way.to);
      const operators = ({ operator, to }: Way) => operator || !sourcesOf(draft, to).includes('from-any');
      const only = IDS.filter((id) => peripherals.has(id)).flatMap((id) => {
        const out = open.filter(({ from }) => from === id);
        return [
          ...(entered.has(id) ? [] : [`only the operator can enter ${id}`]),
          ...(out.length > 0 && out.every(operators) ? [`only the operator can hop out of ${id}`] : []),
        ];
      });
      expect(warned('operator-only').map(({ message }) => message)).toEqual(only);

      count.lost += lost.length;
      count.dead += dead.length;
      count.modes += warned('lost-mode').length;
      count.operator += only.length;
    }),
    { numRuns: GRAPHS },
  );
  const { several, ...often } = count;
  expect(Math.min(...Object.values(often)), JSON.stringify(count)).toBeGreaterThan(20);
  expect(several).toBeGreaterThan(GRAPHS < 1000 ? -1 : GRAPHS / 500);
});
