/**
 * Runs the generated tests over a mutated gate: a message `{ file, text, first }` has a file of src/gate replaced, and
 * the answer is the name of the first generated test that fails, or null if all pass. The gate and what imports it are
 * loaded again for each message; the tests are planned once, as the plan depends on nothing of the gate.
 */
import { statSync } from 'node:fs';
import { registerHooks } from 'node:module';
import type { SpecSet } from '../../src/spec/types.ts';
import { makeModelConfig } from '../../src/testing/model/model-config.ts';
import type * as RunCase from '../../src/testing/model/run-case.ts';
import { planCases } from '../../src/testing/plan-cases.ts';
import { fixtureSpecs } from '../fixture-specs.ts';
import { DOORS, EXTRA, FACTS } from './gate-mutants-specs.ts';
import { REVIEW, RUNBOOK, specsOf } from './spec-sets.ts';

const SRC = new URL('../../src/', import.meta.url).href;
const RELOADED = /^(?:gate|compile|session|testing)\//;
let mutant = 0;
let mutated = { url: '', text: '' };

registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    const [, run] = /\?mutant=(\d+)$/.exec(context.parentURL ?? '') ?? [];
    const inSrc = found.url.startsWith(SRC) && RELOADED.test(found.url.slice(SRC.length));
    return run !== undefined && inSrc ? { ...found, url: `${found.url}?mutant=${run}` } : found;
  },
  load: (url, context, next) =>
    url === mutated.url
      ? { format: 'module-typescript', source: mutated.text, shortCircuit: true }
      : next(url, context),
});

function casesOf(specs: SpecSet, agent = 'tester') {
  const pinned = { specs, config: makeModelConfig(specs) };
  const provoked = new Map<string, Set<string>>();
  const idleStores: RunCase.RunCaseOptions['idleStores'] = [];
  return planCases(pinned, agent).cases.map((planned) => ({
    pinned,
    planned,
    options: { agent, provoked, idleStores },
  }));
}

type Cases = ReturnType<typeof casesOf>;
const isBroad = ({ planned }: Cases[number]): boolean => planned.provoke === 'end' || planned.group === 'visits';
/** The tests with the most requests come first, because they notice the most mutants. */
const all: Cases = [
  ...casesOf(specsOf(EXTRA), 'stranger'),
  ...[specsOf(DOORS), fixtureSpecs, specsOf(REVIEW), specsOf(RUNBOOK)].flatMap((specs) => casesOf(specs)),
].sort((a, b) => Number(isBroad(b)) - Number(isBroad(a)));
/** Separate spec sets distinguish the facts of CEL rules by the doors that open. */
const rules: Cases = FACTS.flatMap((files) => casesOf(specsOf(files))).sort(
  (a, b) => Number(b.planned.group === 'hops') - Number(a.planned.group === 'hops'),
);
const RULES = ['requirements/evaluate-rule.ts', 'requirements/requirement-facts.ts'];
for (const file of RULES) statSync(new URL(`gate/${file}`, SRC));

interface Order {
  readonly file: string;
  readonly text: string;
  /** Tests whose name has this text run first. */
  readonly first: string;
}

async function firstRed({ file, text, first }: Order): Promise<string | null> {
  mutant += 1;
  mutated = { url: `${SRC}gate/${file}?mutant=${mutant}`, text };
  const { runPlannedCase } = (await import(`${SRC}testing/model/run-case.ts?mutant=${mutant}`)) as typeof RunCase;
  const cases = RULES.includes(file) ? rules : all;
  const isLater = ({ planned }: Cases[number]) => Number(!planned.name.includes(first));
  for (const one of cases.toSorted((a, b) => isLater(a) - isLater(b)))
    try {
      one.options.provoked.clear();
      await runPlannedCase(one.pinned, one.planned, one.options);
    } catch {
      // A test that noticed one mutant likely notices the next one, which is often in the same file.
      cases.splice(0, 0, ...cases.splice(cases.indexOf(one), 1));
      return one.planned.name;
    }
  return null;
}

process.on('message', async (message) => process.send!({ red: await firstRed(message as never) }));
