import { describe, expect, it } from 'vitest';
import type { Session } from '../../src/session/session.ts';
import { describeSpec } from '../../src/testing/describe-spec.ts';
import { generateTests } from '../../src/testing/generate-tests.ts';
import { isDeep } from '../depth.ts';
import { grid, REVIEW, RUNBOOK, specsOf } from './spec-sets.ts';

// A skipped suite would plan its tests, too.
if (isDeep) {
  describe('the generated tests of a review pipeline', async () => describeSpec(specsOf(REVIEW)));
  describe('the generated tests of an incident runbook', async () =>
    describeSpec(specsOf(RUNBOOK), { crashes: false }));
}

it.runIf(isDeep)('long walks cover 60 peripherals and 900 edges', async () => {
  const { tests, large, coverage } = await generateTests(specsOf(grid(60, 15)));
  expect(large).toBe(true);
  for (const { run } of tests) await run();
  const { rows } = coverage();
  expect(rows.find(({ what }) => what === 'edges')).toMatchObject({ covered: 900, reachable: 900, missing: [] });
  // Few steps, because a walk needs little more than one move for each edge.
  const moves = tests
    .map(({ name }) => Number(/: (\d+) moves/.exec(name)?.[1] ?? 0))
    .reduce((sum, count) => sum + count, 0);
  // Among them the ways back.
  expect(moves).toBeLessThan(900 * 1.6 + 1500);
});

describe('the generated tests take an exit', () => {
  const OBSERVED = 'labels: list, note: string, rate: number, info: object, drop: integer';
  const TILL = `tools:
  till:
    purpose: Reads the till.
    effect: observe
    parameters:
      - { name: shop, role: text, description: The shop. }
      - { name: amount, role: text, description: The amount., schema: { type: integer, minimum: 0 } }
    limits: { seconds: 5, output-bytes: 65536 }
    gates: [{ when: 'args.shop.startsWith("berlin") && args.amount >= 500 && args.amount != 501' }]
    observes: { ${OBSERVED} }
    state: { cart: object, level: integer }
`;
  const observed = OBSERVED.split(', ').map((field) => field.replace(/: (.*)/, ': { observed: $1 }'));
  const setWith = (exit: string, more = '') =>
    specsOf({
      'tools.yaml': TILL,
      'peripherals/a.yaml': `id: a\npurpose: A peripheral.\ntools: [till]\nscope: conversation\nentry: [default]\nexit: { go: ${exit} }\nfruit: { ${observed}, risk: { stated: string }, sum: { stated: integer }, sure: { stated: boolean } }\n`,
      'peripherals/b.yaml': `id: b\npurpose: A peripheral.\ntools: []\nscope: conversation\nentry: [from-a]\n${more}exit: {}\n`,
    });
  it.each([
    ['a text in an observed list', '"gold" in fruit.labels'],
    ['several texts in an observed list', 'size(fruit.labels) > 2'],
    ['an observed text of some length', 'size(fruit.note) >= 10'],
    ['any observed text', 'fruit.note != ""'],
    ['an observed number between two fractions', 'fruit.rate > 0.5 && fruit.rate < 0.75'],
    ['an observed number below zero', 'fruit.drop < -20'],
    ['a member of an observed object', 'fruit.info.kind == "x"'],
    ['a member of the state of a tool', 'backpack.cart.total > 300'],
    ['a value in the state of a tool', 'backpack.level == 7'],
    ['several stated fields at once', 'fruit.risk == "low" && fruit.sum > 40 && fruit.sure == false'],
  ])('whose rule needs %s, reported by a call whose arguments meet rules', async (_, rule) => {
    const { coverage } = await generateTests(setWith(`{ to: b, when: ${JSON.stringify(rule)} }`), { crashes: false });
    expect(coverage().rows.flatMap(({ unreachable }) => unreachable)).toEqual([]);
  });

  it('without a rule, if its target demands an observed text that no rule reads', async () => {
    const specs = setWith('b', 'context: { note: from-a }\n');
    const { coverage } = await generateTests(specs, { crashes: false });
    expect(coverage().rows.flatMap(({ unreachable }) => unreachable)).toEqual([]);
  });
});

it('the generated tests start with contexts that the rules of the exits distinguish, and with those of a first visit', async () => {
  const peripheral = (id: string, rest: string) => ({
    [`peripherals/${id}.yaml`]: `id: ${id}\npurpose: A peripheral.\ntools: []\nscope: conversation\n${rest}\n`,
  });
  const rules = `bug: { to: b, when: backpack.kind == "bug" && backpack.story_points > 3 }, no: { to: c, when: "!has(backpack.ticket)" }`;
  const specs = specsOf({
    ...peripheral(
      'a',
      `entry: [default]\ncontext: { kind: inherit, ticket: { take: inherit, optional: true } }\nexit: { ${rules} }`,
    ),
    ...peripheral('b', 'entry: [from-a]\nfruit: { pick: { stated: string } }\nexit: {}'),
    ...peripheral('c', 'entry: [from-a]\nexit: {}'),
    ...peripheral('d', 'entry: [from-b, default]\ncontext: { pick: from-b }\nexit: { on: c }'),
  });
  const { coverage } = await generateTests(specs, { crashes: false });
  const reachable = coverage().rows.flatMap(({ missing }) => missing);
  expect(reachable).toEqual(expect.arrayContaining(['edge a bug b', 'edge a no c', 'start d']));
});

it.runIf(isDeep)('the generated tests pass for tools and peripherals that no mode allows', async () => {
  const peripheral = (id: string, rest: string) => ({
    [`peripherals/${id}.yaml`]: `id: ${id}\npurpose: A peripheral.\nscope: full-codebase\n${rest}`,
  });
  const specs = specsOf({
    'gate.yaml':
      'initial: look\nreset: look\nmodes: { look: { effects: [observe], peripherals: [one, two] } }\ntransitions: []\n',
    'tools.yaml':
      'tools: { mend: { purpose: Mends., effect: act, parameters: [], limits: { seconds: 1, output-bytes: 100 } } }\n',
    ...peripheral('one', 'tools: [read]\nentry: [default, from-any]\nexit: { on: two, off: three }\n'),
    ...peripheral('two', 'tools: [read, mend]\nentry: [from-any]\nexit: { again: one }\n'),
    ...peripheral('three', 'tools: [glob]\nentry: [from-any]\nexit: { again: one }\n'),
  });
  const { tests } = await generateTests(specs, { crashes: false });
  for (const { run } of tests) await run();
});

it.runIf(isDeep)(
  'the name of a generated test shows its reframe: failed test, back to edit, and test again',
  async () => {
    const { tests } = await generateTests('default');
    const names = tests.filter(({ group }) => group === 'round trips').map(({ name }) => name);
    expect(names.filter((name) => name.startsWith('reframe: ')).length).toBeGreaterThan(1);
    expect(
      names.some((name) => /^reframe: .*─[a-z-]+→ test \(run\.fail\) ─fail→ edit ─[a-z-]+→ test$/.test(name)),
    ).toBe(true);
  },
);

describe('an agent under test', () => {
  const rush = async (session: Session) => {
    await session.setMode({ to: 'execute' });
    for (const tool of Object.keys(session.specs.tools)) await session.step({ tool, args: {} });
    for (const { to, exit } of session.available().hops)
      await session.hop({ to, reason: 'on', ...(exit ? { exit } : {}) });
  };

  it.runIf(isDeep)('is put into every peripheral and may try any call', async () => {
    const { tests, specs } = await generateTests('default', { play: rush, crashes: false });
    const played = tests.filter(({ group }) => group === 'agent');
    expect(played.map(({ name }) => name.replace('the agent plays in ', '')).toSorted()).toEqual([
      ...Object.keys(specs.peripherals).toSorted(),
      'the agent plays outside of any peripheral',
    ]);
    for (const { run } of played) await run();
  });

  it.runIf(isDeep)('must stay within the spec', async () => {
    const slow = async () => {
      throw new Error('the agent broke');
    };
    const { tests } = await generateTests('default', { play: slow, crashes: false });
    await expect(tests.find(({ group }) => group === 'agent')?.run()).rejects.toThrow('the agent broke');
  });

  it.runIf(isDeep)('is also put into a large spec set', async () => {
    const { tests } = await generateTests(specsOf(grid(60, 15)), { play: rush });
    const played = tests.filter(({ group }) => group === 'agent');
    expect(played).toHaveLength(61);
    for (const { run } of played.slice(0, 5)) await run();
  });
});
