import { findSimilarName } from '../../spec/names.ts';
import type { SpecSet } from '../../spec/types.ts';
import { itemsCoveredByMoves, type PlannedCase } from './planned-case.ts';

/** Items of the coverage table that no test can reach, with reasons. Each must exclude at least one test. */
export class CoverageExclusions {
  readonly #specs: SpecSet;
  readonly #reasons: ReadonlyMap<string, string>;
  readonly #used = new Set<string>();
  readonly #known = new Set<string>();

  constructor(specs: SpecSet, reasons: { readonly [item: string]: string }) {
    this.#specs = specs;
    this.#reasons = new Map(Object.entries(reasons));
  }

  /** The reason why a test is excluded; null if it is not. */
  reasonFor(planned: PlannedCase, name: string): string | null {
    const items = [name, ...itemsCoveredByMoves(this.#specs, planned.moves)];
    for (const item of items) this.#known.add(item);
    const item = items.find((each) => this.#reasons.has(each));
    if (item === undefined) return null;
    this.#used.add(item);
    return `${item}: ${this.#reasons.get(item)}`;
  }

  /** Throws if an item excludes no test: it is misspelled, or the specs have changed. */
  failIfUnused(): void {
    for (const item of this.#reasons.keys()) {
      if (this.#used.has(item)) continue;
      const near = findSimilarName(item, [...this.#known]);
      throw new Error(`exclude: "${item}" excludes no test${near ? `; did you mean "${near}"?` : '; remove it'}`);
    }
  }
}
