import { expect, it } from 'vitest';
import type { ToolBackend } from '../../src/ports/tool-backend.ts';
import { generateTests } from '../../src/testing/generate-tests.ts';
import { isDeep } from '../depth.ts';
import { fixtureSpecs } from '../fixture-specs.ts';
import { specsOf } from './spec-sets.ts';

const DEPLOYED = 'edge deploy deployed reflect';
const generate = (exclude: { readonly [item: string]: string }) =>
  generateTests(fixtureSpecs, { crashes: false, exclude });

it.runIf(isDeep)(
  'no path contains an excluded item, a skipped test has the reason, and the coverage does not miss it',
  async () => {
    const { tests, coverage } = await generate({ [DEPLOYED]: 'no host' });
    expect(tests.filter(({ excluded }) => excluded !== null)).toMatchObject([{ name: DEPLOYED, excluded: 'no host' }]);
    expect(tests.filter(({ name }) => name.includes('─deployed→'))).toEqual([]);
    const missing = coverage().rows.flatMap((row) => row.missing);
    expect(missing).toContain('edge deploy hop-discipline discipline');
    expect(missing).not.toContain(DEPLOYED);
  },
);

it.each([false, true])('paths go around an excluded item, also in walks (%s)', async (hasCount) => {
  const specs = specsOf({
    'peripherals/a.yaml': `{ id: a, purpose: A., tools: [look], scope: conversation, entry: [default, from-c], exit: { pass: b, fail: c }, fruit: { seen: { observed: [pass, fail] } } }`,
    'peripherals/b.yaml': `{ id: b, purpose: B., tools: [], scope: conversation, entry: [from-a, from-c], exit: { on: ${hasCount ? '{ to: c, when: session.steps > 40 }' : 'c'} } }`,
    'peripherals/c.yaml':
      '{ id: c, purpose: C., tools: [], scope: conversation, entry: [from-a, from-b], exit: { on: b, again: a } }',
    'tools.yaml': `tools: { look: { purpose: Looks., effect: observe, parameters: [], limits: { seconds: 5, output-bytes: 1000 }, observes: { seen: [pass, fail] } } }`,
  });
  const fails: ToolBackend = {
    name: 'fails',
    tools: ['look'],
    run: async () => ({ outcome: { status: 'ok', result: null }, effects: [], observed: { seen: 'fail' } }),
  };
  const run = async (exclude: { readonly [item: string]: string }) => {
    const { tests, coverage, large } = await generateTests(specs, { backends: [fails], crashes: false, exclude });
    expect(large).toBe(hasCount);
    for (const test of tests) if (test.excluded === null) await test.run();
    return coverage().rows.find(({ what }) => what === 'edges');
  };
  await expect(run({})).rejects.toThrow("exclude it: exclude: { 'edge a pass b': 'the reason' }");
  expect(await run({ 'edge a pass b': 'it always fails' })).toMatchObject({ covered: 4, reachable: 4 });
});

it.runIf(isDeep)('two items that would exclude the same tests are both accepted', async () => {
  const exclude = { [DEPLOYED]: 'no host', 'edge deploy blocked reflect': 'no host' };
  expect((await generate(exclude)).tests.filter(({ excluded }) => excluded !== null)).toHaveLength(2);
});

it.runIf(isDeep)('a test can be excluded by its name, and a mode transition', async () => {
  const { tests: all } = await generate({});
  const { name } = all.find(({ group }) => group === 'round trips')!;
  const one = await generate({ [name]: 'slow' });
  expect(one.tests.filter(({ excluded }) => excluded !== null).map((test) => test.name)).toEqual([name]);
  const modes = await generate({ 'mode execute discuss': 'asks a person' });
  expect(modes.tests.filter(({ excluded }) => excluded !== null)).not.toEqual([]);
});

it.runIf(isDeep).each([
  ['edge deploy deployd reflect', `did you mean "${DEPLOYED}"?`],
  ['something else', 'excludes no test'],
])('an item that excludes no test is an error: %s', async (item, message) => {
  await expect(generate({ [item]: 'x' })).rejects.toThrow(message);
});
