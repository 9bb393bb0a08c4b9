import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { compareTestCount } from '../../../src/tools/test-report/compare-counts.ts';

/** Counts runs of one command; each call answers with the number that the run is compared with. */
function counting() {
  const state = mkdtempSync(join(tmpdir(), 'hopgate-counts-'));
  onTestFinished(() => rmSync(state, { recursive: true, force: true }));
  return (session: string, total: number) => compareTestCount(state, '/repo', 'npm test', session, total);
}

it('the number of tests is compared with the last run before the session, not with a lower number within it', () => {
  const count = counting();
  expect(count('one', 10)).toBe(null);
  expect(count('one', 8)).toBe(10);
  expect(count('one', 8)).toBe(10);
  expect(count('two', 8)).toBe(8);
});

it('the numbers of tests of two parallel sessions are compared separately', () => {
  const count = counting();
  count('one', 10);
  expect(count('two', 7)).toBe(10);
  expect(count('one', 9)).toBe(10);
  expect(count('two', 7)).toBe(10);
  expect(count('one', 12)).toBe(10);
  expect(count('one', 11)).toBe(12);
});
