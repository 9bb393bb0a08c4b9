import type { SpecSet } from '../spec/types.ts';
import { generateTests, type TestSpecsOptions } from './generate-tests.ts';
import { TEST_TIMEOUT_MS } from './plan/planned-case.ts';

/**
 * Creates a vitest suite from a spec set: see {@link generateTests}. Await it at the top of a test file; vitest must be
 * installed.
 *
 * @example
 * import { describeSpec } from 'hopgate/testing';
 * await describeSpec('specs');
 */
export async function describeSpec(specs: SpecSet | string, options: TestSpecsOptions = {}): Promise<void> {
  const { describe, expect, it } = await import('vitest');
  const { tests, coverage } = await generateTests(specs, options);
  const groups = Map.groupBy(tests, ({ group }) => group);
  describe(typeof specs === 'string' ? `the spec set ${specs}` : 'the spec set', () => {
    for (const [group, cases] of groups) {
      describe(group, () => {
        for (const { name, run, excluded } of cases)
          if (excluded === null) it(name, run, TEST_TIMEOUT_MS);
          else it.skip(`${name} (excluded: ${excluded})`);
      });
    }
    if (options.backends) return;
    it('covers every state, start, edge and mode transition that can be reached', () => {
      const { rows } = coverage();
      expect(rows.flatMap(({ what, missing }) => (what === 'gates' ? [] : missing))).toEqual([]);
    });
  });
}
