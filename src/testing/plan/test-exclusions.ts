import { findSimilarName } from '../../spec/names.ts';
import type { SpecSet } from '../../spec/types.ts';
import { itemsCoveredByMoves, type PlannedCase } from './planned-case.ts';

/** Items of the coverage table that no test can reach, with reasons. Each must exclude at least one test. */
export function makeCoverageExclusions(specs: SpecSet, reasons: { readonly [item: string]: string }) {
  const used = new Set<string>();
  const known = new Set<string>();
  return {
    /** The reason why a test is excluded; null if it is not. */
    reasonFor(planned: PlannedCase, name: string): string | null {
      const items = [name, ...itemsCoveredByMoves(specs, planned.moves)];
      for (const item of items) known.add(item);
      const item = items.find((each) => Object.hasOwn(reasons, each));
      if (item === undefined) return null;
      used.add(item);
      return `${item}: ${reasons[item]}`;
    },
    /** Throws if an item excludes no test: it is misspelled, or the specs have changed. */
    failIfUnused(): void {
      const unused = Object.keys(reasons).find((item) => !used.has(item));
      if (unused === undefined) return;
      const near = findSimilarName(unused, [...known]);
      throw new Error(`exclude: "${unused}" excludes no test${near ? `; did you mean "${near}"?` : '; remove it'}`);
    },
  };
}
