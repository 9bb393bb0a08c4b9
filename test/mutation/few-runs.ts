import type * as FastCheck from 'fast-check';
import { vi } from 'vitest';

/**
 * Properties that name no number of runs are tried a few times: each test is run for each mutant. Mutants that only a
 * hundred runs would find count as unnoticed.
 */
const FEW = 10;

vi.mock('fast-check', async (original) => {
  const real = await original<typeof FastCheck>();
  const assert = ((property: never, parameters: { readonly numRuns?: number } = {}) =>
    real.assert(property, { ...parameters, numRuns: parameters.numRuns ?? FEW })) as typeof real.assert;
  return { ...real, assert, default: { ...real.default, assert } };
});
