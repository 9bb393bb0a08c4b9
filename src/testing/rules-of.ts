import type { SpecSet } from '../spec/types.ts';

/** Every CEL rule of a spec set. */
export const rulesOf = ({ conditions, edges }: SpecSet): string =>
  [
    ...Object.values(conditions),
    ...new Set(
      edges.flatMap(({ when, gates }) => [
        ...(when === null ? [] : [when]),
        ...gates.flatMap((gate) => (gate.kind === 'when' ? [gate.cel] : [])),
      ]),
    ),
  ].join('\n');
