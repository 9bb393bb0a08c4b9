import { describe, expect, it } from 'vitest';
import { describeSpec } from '../../src/testing/describe-spec.ts';
import { generateTests } from '../../src/testing/test-specs.ts';
import { grid, REVIEW, RUNBOOK, specsOf } from './spec-sets.ts';

describe('a review pipeline', async () => describeSpec(specsOf(REVIEW)));
describe('an incident runbook', async () => describeSpec(specsOf(RUNBOOK), { deaths: false }));

it('it covers 60 peripherals and 900 edges by long walks', async () => {
  const { tests, large, coverage } = await generateTests(specsOf(grid(60, 15)));
  expect(large).toBe(true);
  for (const { run } of tests) await run();
  const { rows } = coverage();
  expect(rows.find(({ what }) => what === 'edges')).toMatchObject({ covered: 900, reachable: 900, missing: [] });
  // Few steps: walks take an edge by little more than one move each.
  const moves = tests
    .map(({ name }) => Number(/: (\d+) moves/.exec(name)?.[1] ?? 0))
    .reduce((sum, count) => sum + count, 0);
  expect(moves).toBeLessThan(900 * 1.6);
});

it('it names the reframes: the test fails, back to edit, and to the test again', async () => {
  const { tests } = await generateTests('default');
  const names = tests.filter(({ group }) => group === 'round trips').map(({ name }) => name);
  expect(names.filter((name) => name.startsWith('reframe: ')).length).toBeGreaterThan(1);
  expect(names.some((name) => /^reframe: .*─[a-z-]+→ test \(run\.fail\) ─fail→ edit ─[a-z-]+→ test$/.test(name))).toBe(
    true,
  );
});
