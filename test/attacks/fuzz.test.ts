import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { depth } from '../depth.ts';
import { FUZZES } from './fuzz.ts';

/** Inputs of one run; `npm run fuzz` makes many more. */
const INPUTS = depth(25_000, 110_000);
const shares = FUZZES.reduce((sum, { share }) => sum + share, 0);
const { seed = Date.now() & 0x7fffffff } = fc.readConfigureGlobal();

describe(`any input (seed ${seed})`, () => {
  it.each(FUZZES)('keeps the rule: $name', ({ share, property }) => {
    const numRuns = Math.ceil((INPUTS * share) / shares);
    const details = fc.check(property(), { seed, numRuns });
    expect(details.failed, fc.defaultReportMessage(details)).toBe(false);
    expect(details.numRuns).toBe(numRuns);
  });
});
