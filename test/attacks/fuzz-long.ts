/**
 * A long run of all fuzzing, for `npm run fuzz [-- minutes]`. Ends with status 1, and how to repeat it, at the first
 * input that breaks a rule.
 */
import fc from 'fast-check';
import { FUZZES } from './fuzz.ts';

const minutes = Number(process.argv[2] ?? 10);
if (!(minutes > 0)) {
  console.error('Usage: npm run fuzz [-- MINUTES]');
  process.exit(2);
}
const end = Date.now() + minutes * 60_000;
let inputs = 0;
for (let seed = Date.now() & 0x7fffffff; Date.now() < end; seed = (seed + 1) & 0x7fffffff)
  for (const { name, share, property } of FUZZES) {
    const numRuns = 10_000 * share;
    const details = fc.check(property(), { seed, numRuns });
    inputs += details.numRuns;
    if (details.failed) {
      console.error(`It does not hold that ${name}.\n${fc.defaultReportMessage(details)}`);
      process.exit(1);
    }
  }
console.log(`${inputs.toLocaleString('en')} inputs in ${minutes} minutes: everything held.`);
