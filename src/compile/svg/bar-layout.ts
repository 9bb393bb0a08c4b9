import { type Layout, layOut, type Point, type Rectangle, type Size } from './layout.ts';

interface Box extends Size {
  readonly id: string;
}
interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly label: Size;
}
type Side = 'left' | 'right';

const MARGIN = 12;
const GAP = 6;
const LANE = 36;

/** The peripherals that nearly all others are joined with, at most two: the right bar, then the left one. */
export function hubsOf(order: readonly string[], arrows: readonly Arrow[]): readonly string[] {
  const neighbours = (id: string): number =>
    new Set(arrows.flatMap(({ from, to }) => (from === id ? [to] : to === id ? [from] : []))).size;
  if (order.length < 6) return [];
  return order
    .filter((id) => neighbours(id) >= 0.8 * (order.length - 1))
    .toSorted((a, b) => neighbours(b) - neighbours(a) || order.indexOf(b) - order.indexOf(a))
    .slice(0, 2);
}

/**
 * A layout with the hubs as tall bars beside the others, and straight arrows between: what everything leads to does not pull the flow apart.
 * null: there are no hubs, or something stands in an arrow's way. `boxes` come in reading order.
 */
export async function layOutWithBars(
  boxes: readonly Box[],
  arrows: readonly Arrow[],
  barOf: (id: string) => Size,
): Promise<Layout | null> {
  const [right, left] = hubsOf(
    boxes.map(({ id }) => id),
    arrows,
  );
  if (right === undefined) return null;
  const sideOf = (id: string): Side | null => (id === right ? 'right' : id === left ? 'left' : null);
  const linksOf = (id: string, side: Side) =>
    arrows.filter(({ from, to }) => (from === id && sideOf(to) === side) || (to === id && sideOf(from) === side));
  const room = (id: string, side: Side) =>
    linksOf(id, side).reduce((sum, { label }) => sum + Math.max(label.height, 14) + GAP, 2 * MARGIN);
  const inner = boxes
    .filter(({ id }) => sideOf(id) === null)
    .map((box) => ({ ...box, height: Math.max(box.height, room(box.id, 'left'), room(box.id, 'right')) }));
  const innerArrows = arrows.filter(({ from, to }) => sideOf(from) === null && sideOf(to) === null);
  const core = await layOut(inner, innerArrows);

  const between = arrows.filter(({ from, to }) => sideOf(from) !== null && sideOf(to) !== null);
  const widest = (side: Side) =>
    Math.max(
      0,
      ...arrows
        .filter(
          ({ from, to }) =>
            (sideOf(from) === side) !== (sideOf(to) === side) &&
            !between.some((each) => each.from === from && each.to === to),
        )
        .map(({ label }) => label.width),
    );
  const leftBar = left === undefined ? { width: 0, height: 0 } : barOf(left);
  const rightBar = barOf(right);
  const coreLeft = left === undefined ? 0 : leftBar.width + widest('left') + 2 * 20;
  const coreRight = coreLeft + core.width;
  const barLeft = coreRight + widest('right') + 2 * 20;
  const lanes = between.map(({ label }) => Math.max(label.height, 14) + GAP);
  const height = Math.max(
    core.height + (lanes.length === 0 ? 0 : MARGIN + lanes.reduce((sum, lane) => sum + lane, 0)),
    leftBar.height,
    rightBar.height,
  );

  const shifted = (rectangle: Rectangle): Rectangle => ({ ...rectangle, x: rectangle.x + coreLeft });
  const nodes: { [id: string]: Rectangle } = {};
  for (const { id } of inner) {
    const place = core.nodes[id];
    if (place) nodes[id] = shifted(place);
  }
  if (left !== undefined) nodes[left] = { x: 0, y: 0, width: leftBar.width, height };
  nodes[right] = { x: barLeft, y: 0, width: rightBar.width, height };

  const labels = core.edges.map(({ label }) => shifted(label));
  const heights = new Map<Arrow, number>();
  for (const side of ['left', 'right'] as const) {
    let free = 0;
    for (const box of inner.toSorted((a, b) => (nodes[a.id]?.y ?? 0) - (nodes[b.id]?.y ?? 0))) {
      const node = nodes[box.id];
      if (!node) return null;
      const links = linksOf(box.id, side);
      const inTheWay = [...inner.flatMap(({ id }) => (id === box.id ? [] : (nodes[id] ?? []))), ...labels].filter(
        ({ x, width }) => (side === 'left' ? x < node.x : x + width > node.x + node.width),
      );
      for (const [index, link] of links.entries()) {
        const half = Math.max(link.label.height, 14) / 2;
        const wished = node.y + (node.height * (index + 1)) / (links.length + 1);
        const y = nearestFree(wished, Math.max(node.y + MARGIN, free + half), node.y + node.height - MARGIN, inTheWay);
        if (y === null) return null;
        heights.set(link, y);
        free = y + half + GAP;
      }
    }
  }
  let lane = core.height + MARGIN;
  for (const [index, arrow] of between.entries()) {
    heights.set(arrow, Math.round(lane + (lanes[index] ?? LANE) / 2));
    lane += lanes[index] ?? LANE;
  }

  const inside = new Map(innerArrows.map((arrow, index) => [arrow, core.edges[index]]));
  const edges = arrows.map((arrow) => {
    const routed = inside.get(arrow);
    if (routed)
      return { points: routed.points.map(({ x, y }) => ({ x: x + coreLeft, y })), label: shifted(routed.label) };
    const y = heights.get(arrow) ?? 0;
    const a = nodes[arrow.from] ?? { x: 0, y: 0, width: 0, height: 0 };
    const b = nodes[arrow.to] ?? a;
    const points: Point[] =
      a.x < b.x
        ? [
            { x: a.x + a.width, y },
            { x: b.x, y },
          ]
        : [
            { x: a.x, y },
            { x: b.x + b.width, y },
          ];
    const middle =
      sideOf(arrow.from) !== null && sideOf(arrow.to) !== null
        ? (coreLeft + coreRight) / 2
        : sideOf(arrow.from) === 'right' || sideOf(arrow.to) === 'right'
          ? (coreRight + barLeft) / 2
          : (leftBar.width + coreLeft) / 2;
    const { width, height: tall } = arrow.label;
    return { points, label: { x: Math.round(middle - width / 2), y: Math.round(y - tall / 2), width, height: tall } };
  });
  return { width: barLeft + rightBar.width, height, nodes, edges };
}

/** The height nearest to the wished one, within bounds, at which a line meets none of these. */
function nearestFree(wished: number, least: number, most: number, inTheWay: readonly Rectangle[]): number | null {
  const free = (y: number): boolean =>
    y >= least && y <= most && !inTheWay.some((each) => y > each.y - GAP && y < each.y + each.height + GAP);
  const start = Math.round(Math.min(most, Math.max(least, wished)));
  for (let away = 0; away <= most - least; away++) {
    if (free(start + away)) return start + away;
    if (free(start - away)) return start - away;
  }
  return null;
}
