import type { Edge } from './types.ts';

const indexes = new WeakMap<readonly Edge[], ReadonlyMap<string, readonly Edge[]>>();

/** The edges that lead out of a peripheral, in the order of the set. Cached, because every decision needs them. */
export function edgesFromPeripheral({ edges }: { readonly edges: readonly Edge[] }, from: string): readonly Edge[] {
  let index = indexes.get(edges);
  if (!index) {
    index = Map.groupBy(edges, (edge) => edge.from);
    indexes.set(edges, index);
  }
  return index.get(from) ?? [];
}
