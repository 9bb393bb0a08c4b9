import { expect, it } from 'vitest';
import { lintSpecs } from '../../src/spec/check/lint-specs.ts';
import { loadBuiltInCatalogue, loadSpecs } from '../../src/spec/load/load-specs.ts';
import { deriveEdges } from '../../src/spec/resolve/derive-edges.ts';
import { parseSpecSet } from '../../src/spec/resolve/parse-spec-set.ts';

const catalogue = await loadBuiltInCatalogue();
function lint(text: string) {
  const parsed = parseSpecSet([{ file: 'all.edn', text }], catalogue);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return lintSpecs(parsed.specs).map(({ code, path, message }) => `${code} ${path}: ${message}`);
}

it('the built-in specs have no warnings', async () => {
  expect(lintSpecs(await loadSpecs('default'))).toEqual([]);
});

it('unbound exits, hops that open nothing, unused sources and unreachable peripherals cause warnings', () => {
  expect(
    lint(`{:a {:tools [] :scope :conversation :entry :default :exit [:done :hop-a-b]}
           :b {:tools [] :scope :conversation :entry [:from-a] :exit [:lost]}
           :c {:tools [] :scope :conversation :entry [:from-b :from-a-b :user-request] :exit []}
           :a-b {:tools [] :scope :conversation :entry [:session-close] :exit []}}`),
  ).toEqual([
    'unbound-exit peripherals.a.exit.done: done is bound to no destination; it opens b',
    'hop-opens-nothing peripherals.a.exit.hop-a-b: hop-a-b opens nothing: a-b does not admit a',
    'unbound-exit peripherals.b.exit.lost: lost is bound to no destination; it opens c',
    'unused-source peripherals.c.entry: from-a-b is never used: no exit of a-b opens c',
    'unreachable peripherals.a-b: no edge reaches a-b',
  ]);
});

it('a destination that does not admit the source of its bound exit causes a warning', async () => {
  const specs = await loadSpecs('default');
  const edges = specs.edges.filter(({ to }) => to !== 'deploy');
  expect(lintSpecs({ ...specs, edges }).map(({ code, path }) => `${code} ${path}`)).toEqual([
    'unused-source peripherals.deploy.entry',
    'unreachable peripherals.deploy',
    'no-edge peripherals.test.exit.pass',
  ]);
});

it('a rule of a hop causes a warning if it reads a backpack field that only the visit before the hop yields', () => {
  const place = (id: string, rest: string) => ({
    file: `peripherals/${id}.yaml`,
    text: `id: ${id}\npurpose: A place.\ntools: []\nscope: conversation\n${rest}\n`,
  });
  const parsed = parseSpecSet(
    [
      { file: 'conditions.yaml', text: 'conditions: { weighed: backpack.net_weight > 0.0 }' },
      place(
        'a',
        'entry: [default]\nfruit: { net-weight: { stated: number }, both: { stated: string } }\nexit: { on: [b, { to: c, when: size(backpack.both) > 0 }] }',
      ),
      place('b', 'entry: [from-a, weighed]\nfruit: { both: { stated: string } }\nexit: { on: c }'),
      place('c', 'entry: [from-a, from-b, weighed]\nexit: {}'),
    ],
    catalogue,
  );
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  const late = lintSpecs(parsed.specs).filter(({ code }) => code === 'late-fruit');
  expect(late.map(({ message, suggestion }) => [message.slice(0, 43), suggestion])).toEqual([
    ['the hop to b reads backpack.net_weight, whi', 'read fruit.net_weight for the visit that the hop ends'],
    ['the hop to c reads backpack.net_weight, whi', 'read fruit.net_weight for the visit that the hop ends'],
  ]);
});

it('deriving and checking the edges of a chain needs a number of reads that is linear in its length', () => {
  const size = 200;
  const places = Array.from({ length: size }, (_, at) => {
    const exit = at === size - 1 ? '[]' : `{:next :p${at + 1}}`;
    return `:p${at} {:tools [] :scope :conversation :entry [${at === 0 ? ':default' : `:from-p${at - 1}`}] :exit ${exit}}`;
  });
  const parsed = parseSpecSet([{ file: 'all.edn', text: `{${places.join('\n')}}` }], catalogue);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  const { specs } = parsed;
  let reads = 0;
  const counted = <T extends object>(value: T, field: keyof T): T =>
    new Proxy(value, {
      get: (target, name) => {
        if (name === field) reads += 1;
        return Reflect.get(target, name);
      },
    });
  const peripherals = Object.fromEntries(
    Object.entries(specs.peripherals).map(([id, spec]) => [id, counted(spec, 'gates')]),
  );
  expect(deriveEdges(peripherals)).toEqual(specs.edges);
  expect(reads).toBeGreaterThan(size);
  expect(reads).toBeLessThan(5 * size);
  reads = 0;
  expect(lintSpecs({ ...specs, edges: specs.edges.map((edge) => counted(edge, 'from')) })).toEqual([]);
  expect(reads).toBeGreaterThan(size - 2);
  expect(reads).toBeLessThan(5 * size);
});
