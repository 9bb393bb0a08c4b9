import { findSimilarName } from '../../spec/names.ts';
import type { SpecSet } from '../../spec/types.ts';

/**
 * Checks the items that a caller excludes: each must be an item of the spec set or the name of a test.
 * @throws Error with the most similar item, for an item that is misspelled or that the specs no longer have
 */
export function assertExclusions(specs: SpecSet, items: readonly string[], testNames: readonly string[]): void {
  const known = new Set([...itemsOfSpecs(specs), ...testNames]);
  const unknown = items.find((item) => !known.has(item));
  if (unknown === undefined) return;
  const near = findSimilarName(unknown, [...known]);
  throw new Error(`exclude: "${unknown}" excludes no test${near ? `; did you mean "${near}"?` : '; remove it'}`);
}

/** All items of the coverage table, also those that no session can reach. */
function itemsOfSpecs({ peripherals, edges, modeGate }: SpecSet): readonly string[] {
  const transitions = modeGate?.transitions ?? [];
  return [
    ...Object.keys(peripherals).flatMap((id) => [`state ${id}`, `start ${id}`]),
    ...edges.map(({ from, exit, to }) => `edge ${from} ${exit} ${to}`),
    ...transitions.map(({ from, to }) => `mode ${from} ${to}`),
    ...Object.keys(modeGate?.effects ?? {}).map((mode) => `mode ${mode} reset`),
  ];
}
