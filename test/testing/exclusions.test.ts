import { expect, it } from 'vitest';
import { generateTests } from '../../src/testing/generate-tests.ts';
import { isDeep } from '../depth.ts';
import { fixtureSpecs } from '../fixture-specs.ts';

const DEPLOYED = 'edge deploy deployed reflect';
const generate = (exclude: { readonly [item: string]: string }) =>
  generateTests(fixtureSpecs, { crashes: false, exclude });

it.runIf(isDeep)(
  'an excluded item excludes each test whose path needs it, with the reason, and is not missing in the coverage',
  async () => {
    const { tests, coverage } = await generate({ [DEPLOYED]: 'no host' });
    const excluded = tests.filter((test) => test.excluded !== null);
    expect(excluded.length).toBeGreaterThan(1);
    expect(new Set(excluded.map((test) => test.excluded))).toEqual(new Set([`${DEPLOYED}: no host`]));
    expect(tests.filter(({ name, excluded: why }) => name.includes('─deployed→') && why === null)).toEqual([]);
    const missing = coverage().rows.flatMap((row) => row.missing);
    expect(missing).toContain('edge deploy hop-discipline discipline');
    expect(missing).not.toContain(DEPLOYED);
  },
);

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
