import { edgesFromPeripheral } from '../../spec/edges-from.ts';
import type { Edge, SpecSet } from '../../spec/types.ts';
import { isReflectingPeripheral } from '../rules/audited-observations.ts';

/**
 * The edges that an inferred spec must keep, so that a session can leave each used peripheral and reach a review. They
 * are the paths of lowest cost (see {@link costOf}) to a used peripheral that reviews the session, or to an unused one
 * if no used one does. In a set without a review, one hop to any other peripheral is enough.
 * @returns the edges; and as `whole` the peripherals that can be left only by exits with requirements. They need all
 * their exits and tools, because a failed test run opens another exit than a passed one.
 */
export function findEdgesToReview(
  specs: SpecSet,
  used: ReadonlySet<string>,
): { readonly edges: readonly Edge[]; readonly whole: ReadonlySet<string> } {
  const reviewing = Object.values(specs.peripherals).flatMap((spec) => (isReflectingPeripheral(spec) ? [spec.id] : []));
  const visited = reviewing.filter((id) => used.has(id));
  const nearest = visited.length > 0 ? visited : reviewing;
  const edges = new Set<Edge>();
  const whole = new Set<string>();
  const peripherals = new Set(used);
  for (const peripheral of peripherals) {
    if (nearest.includes(peripheral)) continue;
    const path = cheapestPath(
      specs,
      peripheral,
      (to) => (reviewing.length === 0 ? to !== peripheral : nearest.includes(to)),
      used,
    );
    const isBound = path.some((edge) => edge.from === peripheral && costOf(edge) > MAX_PLAIN);
    if (isBound) whole.add(peripheral);
    for (const edge of isBound ? [...path, ...edgesFromPeripheral(specs, peripheral)] : path) {
      edges.add(edge);
      peripherals.add(edge.to);
    }
  }
  return { edges: [...edges], whole };
}

/** The edges of the cheapest path from a peripheral to one that `isEnd` accepts; empty if there is no path. */
function cheapestPath(
  specs: SpecSet,
  from: string,
  isEnd: (peripheral: string) => boolean,
  used: ReadonlySet<string>,
): readonly Edge[] {
  const costs = new Map<string, { readonly cost: number; readonly way: readonly Edge[] }>([
    [from, { cost: 0, way: [] }],
  ]);
  const open = new Set([from]);
  while (open.size > 0) {
    const nearest = [...open].reduce((a, b) => (costs.get(b)!.cost < costs.get(a)!.cost ? b : a));
    const { cost, way: path } = costs.get(nearest)!;
    if (nearest !== from && isEnd(nearest)) return path;
    open.delete(nearest);
    for (const edge of edgesFromPeripheral(specs, nearest)) {
      const next = cost + costOf(edge) + (used.has(edge.to) ? 0 : 0.5);
      if (next >= (costs.get(edge.to)?.cost ?? Number.POSITIVE_INFINITY)) continue;
      costs.set(edge.to, { cost: next, way: [...path, edge] });
      open.add(edge.to);
    }
  }
  return [];
}

/** The highest cost of a hop without requirements. */
const MAX_PLAIN = 2;

/** The cost of a hop: one, and more for each requirement. Of two equal hops the exit `hop-…` is cheaper. */
const costOf = ({ exit, to, when, conditions, gates, implies, sources }: Edge): number =>
  1 +
  10 * ((when === null ? 0 : 1) + (implies === null ? 0 : 1) + conditions.length + gates.length) +
  (edgeNeedsOperator({ exit, sources }) ? 10 : 0) +
  (exit === `hop-${to}` ? 0 : 0.1);

export const edgeNeedsOperator = ({ exit, sources }: Pick<Edge, 'exit' | 'sources'>): boolean =>
  exit === 'user-request' || sources.every(({ kind }) => kind === 'user-request');
