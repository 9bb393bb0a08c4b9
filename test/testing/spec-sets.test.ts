import { describe, expect, it } from 'vitest';
import type { Session } from '../../src/session/session.ts';
import { describeSpec } from '../../src/testing/describe-spec.ts';
import { generateTests } from '../../src/testing/generate-tests.ts';
import { isDeep } from '../depth.ts';
import { grid, REVIEW, RUNBOOK, specsOf } from './spec-sets.ts';

describe.runIf(isDeep)('the generated tests of a review pipeline', async () => describeSpec(specsOf(REVIEW)));
describe('the generated tests of an incident runbook', async () => describeSpec(specsOf(RUNBOOK), { crashes: false }));

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

it('the generated tests start with contexts that the rules of the exits distinguish, and with those of a first visit', async () => {
  const place = (id: string, rest: string) => ({
    [`peripherals/${id}.yaml`]: `id: ${id}\npurpose: A place.\ntools: []\nscope: conversation\n${rest}\n`,
  });
  const rules = `bug: { to: b, when: backpack.kind == "bug" && backpack.story_points > 3 }, no: { to: c, when: "!has(backpack.ticket)" }`;
  const specs = specsOf({
    ...place(
      'a',
      `entry: [default]\ncontext: { kind: inherit, ticket: { take: inherit, optional: true } }\nexit: { ${rules} }`,
    ),
    ...place('b', 'entry: [from-a]\nfruit: { pick: { stated: string } }\nexit: {}'),
    ...place('c', 'entry: [from-a]\nexit: {}'),
    ...place('d', 'entry: [from-b, default]\ncontext: { pick: from-b }\nexit: { on: c }'),
  });
  const { coverage } = await generateTests(specs, { crashes: false });
  const reachable = coverage().rows.flatMap(({ missing }) => missing);
  expect(reachable).toEqual(expect.arrayContaining(['edge a bug b', 'edge a no c', 'start d']));
});

it('the generated tests pass for tools and places that no mode allows', async () => {
  const place = (id: string, rest: string) => ({
    [`peripherals/${id}.yaml`]: `id: ${id}\npurpose: A place.\nscope: full-codebase\n${rest}`,
  });
  const specs = specsOf({
    'gate.yaml':
      'initial: look\nreset: look\nmodes: { look: { effects: [observe], peripherals: [one, two] } }\ntransitions: []\n',
    'tools.yaml':
      'tools: { mend: { purpose: Mends., effect: act, parameters: [], limits: { seconds: 1, output-bytes: 100 } } }\n',
    ...place('one', 'tools: [read]\nentry: [default, from-any]\nexit: { on: two, off: three }\n'),
    ...place('two', 'tools: [read, mend]\nentry: [from-any]\nexit: { again: one }\n'),
    ...place('three', 'tools: [glob]\nentry: [from-any]\nexit: { again: one }\n'),
  });
  const { tests } = await generateTests(specs, { crashes: false });
  for (const { run } of tests) await run();
});

it('a generated test has the name of its reframes: failed test, back to edit, and test again', async () => {
  const { tests } = await generateTests('default');
  const names = tests.filter(({ group }) => group === 'round trips').map(({ name }) => name);
  expect(names.filter((name) => name.startsWith('reframe: ')).length).toBeGreaterThan(1);
  expect(names.some((name) => /^reframe: .*─[a-z-]+→ test \(run\.fail\) ─fail→ edit ─[a-z-]+→ test$/.test(name))).toBe(
    true,
  );
});

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

  it('must stay within the spec', async () => {
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
