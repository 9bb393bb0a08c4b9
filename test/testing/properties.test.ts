import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { proveProperties } from '../../src/audit/properties/prove.ts';
import { loadCatalogue, loadSpecs } from '../../src/spec/load/load-specs.ts';
import { parseSpecSet } from '../../src/spec/resolve/parse-spec-set.ts';
import type { SpecSet } from '../../src/spec/types.ts';
import { grid, REVIEW, RUNBOOK, specsOf } from './spec-sets.ts';

const broken = (specs: SpecSet) => proveProperties(specs).filter(({ holds }) => !holds);

const place = (id: string, rest: string) => ({
  [`peripherals/${id}.yaml`]: `id: ${id}\npurpose: A place.\n${rest}`,
});
const LOOK = 'tools: [read]\nscope: full-codebase\n';
const HOME = 'tools: [musn-log]\nscope: session-log-only\nfruit: { par: { observed: object } }\n';

describe('the built-in properties', () => {
  it('hold for the shipped specs, a review pipeline, a runbook and a grid', async () => {
    expect(broken(await loadSpecs('default'))).toEqual([]);
    expect(broken(specsOf(REVIEW))).toEqual([]);
    expect(broken(specsOf(RUNBOOK))).toEqual([]);
    expect(broken(specsOf(grid(200, 20)))).toEqual([]);
  });

  it('shows the way into a dead end', () => {
    const specs = specsOf({
      ...place('one', `${LOOK}entry: [default, from-home]\nexit: { on: two, hop-home: home }\n`),
      ...place('two', `${LOOK}entry: [from-one]\nexit: {}\n`),
      ...place('home', `${HOME}entry: [from-any]\nexit: { again: one }\n`),
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

  it('sees a gate that can never open', () => {
    const specs = (cel: string) =>
      specsOf({
        ...place(
          'one',
          `${LOOK}entry: [default, from-home]\nexit: { on: home }\nfruit: { n: { stated: integer } }\ngates: { home: [{ when: "${cel}" }] }\n`,
        ),
        ...place('home', `${HOME}entry: [from-one]\nexit: { again: one }\n`),
      });
    const shut = 'one ─on→ home is shut (the gate "fruit.n > 3 && fruit.n < 3" cannot hold)';
    expect(broken(specs('fruit.n > 3 && fruit.n < 3')).map(({ message }) => message)).toEqual([
      `no session can reach home: ${shut}`,
      `from one no hops lead to home: ${shut}`,
    ]);
    expect(broken(specs('fruit.n > 3 && fruit.n < 5'))).toEqual([]);
    expect(broken(specs('visit.steps >= 2'))).toEqual([]);
  });

  it('stays quick with many peripherals that test', () => {
    const TESTS =
      'tools: [bash-test]\nscope: test-commands-only\nfruit: { result: { observed: [pass, fail, flaky] } }\n';
    const at = (x: number) => `t-${x % 40}`;
    const ring = Object.assign(
      {},
      ...Array.from({ length: 40 }, (_, x) =>
        place(
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
    // With the result of each remembered this would end in no time that anybody has.
  }, 60_000);

  it('sees a peripheral that both changes code and ships it', () => {
    const specs = specsOf(
      place(
        'all',
        'tools: [edit, bash-git]\nscope: { paths: [src/] }\nentry: [default, from-any]\nexit: { again: all }\n',
      ),
    );
    expect(broken(specs).map(({ property }) => property)).toContain('apart');
  });
});

const SHOP = {
  ...place(
    'edit',
    'tools: [edit]\nscope: { paths: [src/] }\nentry: [default, from-test]\nexit: { done: test, rush: ship }\n',
  ),
  ...place(
    'test',
    'tools: [bash-test]\nscope: test-commands-only\nentry: [from-edit]\nexit: { pass: ship, fail: edit }\nfruit: { result: { observed: [pass, fail, flaky] } }\n',
  ),
};
const SHIP = 'tools: [bash-git]\nscope: git-push-only\nexit: {}\n';
const stated = (rules: string, ship: string) =>
  broken(specsOf({ ...SHOP, ...place('ship', SHIP + ship), 'properties.yaml': `properties:\n${rules}` })).filter(
    ({ property }) => property.startsWith('{'),
  );

describe('the properties that a spec set states', () => {
  it('an unguarded deploy is shown with the way to it', () => {
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

  it('a pass that is older than the last change does not count', () => {
    const rule = '  - never: { hop: ship, without: [test.pass] }\n  - before: { first: test, then: ship }\n';
    expect(stated(rule, 'entry: [from-test, from-edit]\n').map(({ message }) => message)).toEqual([
      'ship can be entered without test.pass',
      'ship can be reached without test before',
    ]);
  });

  it('exclusive speaks of peripherals, or of tools', () => {
    expect(stated('  - exclusive: [edit, ship]\n', 'entry: [from-test, from-edit]\n')[0]?.path).toEqual([
      'start edit',
      'edit ─rush→ ship',
    ]);
    expect(stated('  - exclusive: [edit, ship]\n', 'entry: [from-test]\n')).toEqual([]);
    expect(stated('  - exclusive: [write, bash-git]\n', 'entry: [from-test]\n')).toEqual([]);
  });

  it('a typo is an issue at its place, with what was meant', async () => {
    const source = (text: string) => [
      { file: 'properties.yaml', text },
      ...Object.entries({ ...SHOP, ...place('ship', `${SHIP}entry: [from-test]\n`) }).map(([file, text]) => ({
        file,
        text,
      })),
    ];
    const parsed = parseSpecSet(
      source(
        'properties:\n  - never: { hop: shp, without: [test.pas, aproval] }\n  - befor: { first: test, then: ship }\n',
      ),
      await loadCatalogue(),
    );
    expect(parsed.ok ? [] : parsed.issues.map(({ path, suggestion }) => `${path} ${suggestion}`)).toEqual([
      'properties.1.befor did you mean "before"?',
      'properties.0.never.hop did you mean "ship"?',
      'properties.0.never.without.0 did you mean "test.pass"?',
      'properties.0.never.without.1 did you mean "approval"?',
    ]);
  });
});

// ── against brute force: all runs of a small graph, spelled out ──

const IDS = ['a', 'b', 'c', 'd'];
type Graph = { readonly from: string; readonly to: string; readonly approval: boolean }[];
const graphs: fc.Arbitrary<Graph> = fc.uniqueArray(
  fc.record({ from: fc.constantFrom(...IDS), to: fc.constantFrom(...IDS), approval: fc.boolean() }),
  { maxLength: 8, selector: ({ from, to }) => `${from}${to}` },
);

const specOfGraph = (graph: Graph, rules: string): SpecSet =>
  specsOf({
    ...Object.assign(
      {},
      ...IDS.map((id) => {
        const own = graph.filter(({ from }) => from === id);
        const exits = own.map(({ to }) => `to-${to}: ${to}`).join(', ');
        return place(id, `${LOOK}entry: [${id === 'a' ? 'default, ' : ''}from-any]\nexit: { ${exits} }\n`);
      }),
    ),
    'properties.yaml': `properties:\n${rules}`,
  });

/** Every run from the start, of up to so many hops, as the places it comes through. */
function runs(graph: Graph, length: number): string[][] {
  const all: string[][] = [['a']];
  for (const run of all) {
    if (run.length > length) continue;
    for (const { from, to } of graph) if (from === run.at(-1)) all.push([...run, to]);
  }
  return all;
}

it('a property that says nothing, or speaks of what is not there, is an issue', async () => {
  const files = { ...SHOP, ...place('ship', `${SHIP}entry: [from-test]\n`) };
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
  const parsed = parseSpecSet(sources, await loadCatalogue());
  expect(parsed.ok ? [] : parsed.issues.map(({ line, path, message }) => `${line} ${path}: ${message}`).sort()).toEqual(
    [
      '2 properties.0: is empty',
      '3 properties.1.never.without: names nothing, so it always holds',
      '4 properties.2.never.mode: this spec set has no gate.yaml, so no modes',
      '5 properties.3.before.first: this spec set has no gate.yaml, so no modes',
      '6 properties.4.never.without.0: this spec set has no gate.yaml, so no modes',
      '7 properties.5.exclusive: needs two names',
      '8 properties.6.exclusive.1: there is no peripheral "bash-tset"',
      '9 properties.7.always.eventualy: unknown key "eventualy"',
    ],
  );
});

it('says of random small graphs what trying every run says', () => {
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
        const places = [from];
        for (const at of places)
          for (const edge of graph) if (edge.from === at && !places.includes(edge.to)) places.push(edge.to);
        return places;
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
    { numRuns: 150 },
  );
  expect(Math.min(seen.true, seen.false)).toBeGreaterThan(50);
}, 60_000);
