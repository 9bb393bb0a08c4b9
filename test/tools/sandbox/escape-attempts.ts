import { expect } from 'vitest';
import { splitWords } from '../../../src/base/text.ts';
import type { ProbeResult } from '../../../src/tools/sandbox/probe-result.ts';

/** Expects the attempts of a whole probe: all kinds of sandboxes, and every attempt was stopped. */
export function expectEachStopped(results: readonly ProbeResult[]): void {
  const layouts = [...new Set(results.map(({ layout }) => layout))];
  expect(layouts).toEqual([
    ...splitWords('explore edit test deploy deploy-hosts deploy-online git-commit git-push'),
    'hostile-repository',
  ]);
  for (const layout of layouts.slice(0, -1))
    expect(results.filter((result) => result.layout === layout).length, layout).toBeGreaterThan(14);
  expect(results.filter(({ stopped }) => !stopped)).toEqual([]);
}
