import { getOrInsert } from '../base/get-or-insert.ts';
import type { Edge } from './types.ts';

const indexes = new WeakMap<readonly Edge[], ReadonlyMap<string, readonly Edge[]>>();

/** The edges that lead out of a peripheral, in the order of the set. Cached, because every decision needs them. */
export const edgesFromPeripheral = ({ edges }: { readonly edges: readonly Edge[] }, from: string): readonly Edge[] =>
  getOrInsert(indexes, edges, () => Map.groupBy(edges, (edge) => edge.from)).get(from) ?? [];
