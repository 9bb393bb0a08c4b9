import type { GraphPicture, PictureEdge } from './graph-picture.ts';

/**
 * Returns the peripherals in reading order: first the default start, then with as few backward arrows as possible. A
 * named exit weighs more than a plain `hop-<target>`. Deterministic; ties keep the order of discovery.
 */
export function orderForReading({ nodes, edges }: GraphPicture): readonly string[] {
  const first = nodes.filter(({ start }) => start?.split(/[ ,]/).includes('default')).map(({ id }) => id);
  const head = settleOrder(first, edges);
  const reached = new Set(head);
  for (const id of reached) for (const { from, to } of edges) if (from === id) reached.add(to);
  const others = nodes.map(({ id }) => id).filter((id) => !reached.has(id));
  return settleOrder([...reached, ...others], edges, head.length);
}

/** Moves nodes to positions with fewer backward arrows, until no move helps. Nodes before index `from` stay. */
function settleOrder(initial: readonly string[], edges: readonly PictureEdge[], from = 0): readonly string[] {
  let order = initial;
  let cost = backWeight(order, edges);
  for (let moved = true; moved; ) {
    moved = false;
    for (const id of order.slice(from)) {
      const rest = order.filter((each) => each !== id);
      for (let at = from; at <= rest.length; at++) {
        const tried = rest.toSpliced(at, 0, id);
        const weight = backWeight(tried, edges);
        if (weight >= cost) continue;
        order = tried;
        cost = weight;
        moved = true;
      }
    }
  }
  return order;
}

function backWeight(order: readonly string[], edges: readonly PictureEdge[]): number {
  const indexOf = new Map(order.map((id, index) => [id, index]));
  let weight = 0;
  for (const { from, to, exits } of edges) {
    if ((indexOf.get(from) ?? 0) <= (indexOf.get(to) ?? 0)) continue;
    weight += exits.every(({ name }) => name === `hop-${to}`) ? 1 : 3;
  }
  return weight;
}
