import { type GraphLayout, layOut, type Point, type Rectangle, type Size } from './layout.ts';

interface Box extends Size {
  readonly id: string;
}
interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly label: Size;
}
type Side = 'left' | 'right';
type Places = { readonly [id: string]: Rectangle };

const MARGIN = 12;
const GAP = 6;
/** Space around the widest label between a bar and the flow. */
const AIR = 20;

/** Returns at most two hubs, peripherals with edges to nearly all others: the right bar, then the left one. */
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
 * Lays out the hubs as tall bars at the sides, with straight arrows, so that they do not distort the flow. Returns null
 * if there are no hubs or an arrow would cross a box. `boxes` must be in reading order.
 */
export async function layOutWithBars(
  boxes: readonly Box[],
  arrows: readonly Arrow[],
  barOf: (id: string) => Size,
): Promise<GraphLayout | null> {
  const order = boxes.map(({ id }) => id);
  const [right, left] = hubsOf(order, arrows);
  if (right === undefined) return null;
  const sideOf = (id: string): Side | null => (id === right ? 'right' : id === left ? 'left' : null);
  const bars = ({ from, to }: Arrow): number => [from, to].filter((id) => sideOf(id) !== null).length;
  const linksOf = (side: Side, id?: string): readonly Arrow[] =>
    arrows.filter(
      (arrow) =>
        bars(arrow) === 1 &&
        [arrow.from, arrow.to].some((end) => sideOf(end) === side) &&
        (id === undefined || arrow.from === id || arrow.to === id),
    );
  const room = (links: readonly Arrow[]): number => links.reduce((sum, { label }) => sum + rowOf(label), 2 * MARGIN);

  const inner = boxes
    .filter(({ id }) => sideOf(id) === null)
    .map((box) => ({
      ...box,
      height: Math.max(box.height, room(linksOf('left', box.id)), room(linksOf('right', box.id))),
    }));
  const innerArrows = arrows.filter((arrow) => bars(arrow) === 0);
  const lanes = arrows.filter((arrow) => bars(arrow) === 2);
  const core = await layOut(inner, innerArrows);

  const columns = columnsOf(core.width, left === undefined ? 0 : barOf(left).width, linksOf('left'), linksOf('right'));
  const height = Math.max(
    core.height + (lanes.length === 0 ? 0 : room(lanes) - MARGIN),
    barOf(right).height,
    left === undefined ? 0 : barOf(left).height,
  );
  const moved = (rectangle: Rectangle): Rectangle => ({ ...rectangle, x: rectangle.x + columns.core });
  const flow: Places = Object.fromEntries(Object.entries(core.nodes).map(([id, place]) => [id, moved(place)]));
  const nodes: Places = {
    ...flow,
    ...(left === undefined ? {} : { [left]: { x: 0, y: 0, width: barOf(left).width, height } }),
    [right]: { x: columns.right, y: 0, width: barOf(right).width, height },
  };

  const labels = core.edges.map(({ label }) => moved(label));
  const atLeft = heightsOf('left', flow, labels, (id) => linksOf('left', id));
  const atRight = heightsOf('right', flow, labels, (id) => linksOf('right', id));
  if (!atLeft || !atRight) return null;
  const heights = new Map([...atLeft, ...atRight, ...laneHeights(lanes, core.height + MARGIN)]);
  const inside = new Map(innerArrows.map((arrow, index) => [arrow, core.edges[index]]));
  const edges = arrows.map((arrow) => {
    const routed = inside.get(arrow);
    if (routed)
      return { points: routed.points.map(({ x, y }) => ({ x: x + columns.core, y })), label: moved(routed.label) };
    const column =
      bars(arrow) === 2 ? 'core' : sideOf(arrow.from) === 'left' || sideOf(arrow.to) === 'left' ? 'left' : 'right';
    return straight(arrow, nodes, heights.get(arrow) ?? 0, columns.middle[column]);
  });
  return { width: columns.right + barOf(right).width, height, nodes, edges };
}

const rowOf = (label: Size): number => Math.max(label.height, 14) + GAP;

/** Returns the left edges of the flow and the right bar, and the centres of the gaps. */
function columnsOf(width: number, leftBar: number, left: readonly Arrow[], right: readonly Arrow[]) {
  const widest = (links: readonly Arrow[]): number => Math.max(0, ...links.map(({ label }) => label.width)) + 2 * AIR;
  const core = leftBar === 0 ? 0 : leftBar + widest(left);
  const end = core + width;
  const bar = end + widest(right);
  return { core, right: bar, middle: { left: (leftBar + core) / 2, core: (core + end) / 2, right: (end + bar) / 2 } };
}

/**
 * Returns a height for each arrow of one side so that no labels overlap and no line crosses a box; null if impossible.
 */
function heightsOf(
  side: Side,
  nodes: Places,
  labels: readonly Rectangle[],
  linksOf: (id: string) => readonly Arrow[],
): ReadonlyMap<Arrow, number> | null {
  const heights = new Map<Arrow, number>();
  let free = 0;
  for (const [id, node] of Object.entries(nodes).toSorted(([, a], [, b]) => a.y - b.y)) {
    const others = Object.entries(nodes).flatMap(([other, place]) => (other === id ? [] : [place]));
    const inTheWay = [...others, ...labels].filter(({ x, width }) =>
      side === 'left' ? x < node.x : x + width > node.x + node.width,
    );
    const links = linksOf(id);
    for (const [index, link] of links.entries()) {
      const half = rowOf(link.label) / 2;
      const wished = node.y + (node.height * (index + 1)) / (links.length + 1);
      const least = Math.max(node.y + MARGIN, free + half);
      const y = nearestFree(wished, Math.ceil(least), Math.floor(node.y + node.height - MARGIN), inTheWay);
      if (y === null) return null;
      heights.set(link, y);
      free = y + half;
    }
  }
  return heights;
}

/** Returns the free height nearest to the wanted one, within bounds. */
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

/** Returns the heights of arrows between the bars; they run below the flow. */
function laneHeights(lanes: readonly Arrow[], top: number): readonly (readonly [Arrow, number])[] {
  let next = top;
  return lanes.map((arrow) => {
    next += rowOf(arrow.label);
    return [arrow, Math.round(next - rowOf(arrow.label) / 2)];
  });
}

function straight({ from, to, label }: Arrow, nodes: Places, y: number, middle: number) {
  const nowhere = { x: 0, y: 0, width: 0, height: 0 };
  const [a = nowhere, b = nowhere] = [nodes[from], nodes[to]];
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
  return { points, label: { ...label, x: Math.round(middle - label.width / 2), y: Math.round(y - label.height / 2) } };
}
