import { layOutGraph } from '../compile/svg/graph-layout.ts';
import { graphPictureOf } from '../compile/svg/graph-picture.ts';
import { orderForReading } from '../compile/svg/reading-order.ts';
import { estimateWidth } from '../compile/svg/svg-text.ts';
import type { SpecSet } from '../spec/types.ts';
import type { ViewGraph } from './view-state.ts';

const NODE = { width: 124, height: 44, side: 34, font: 15 };
/** Maximum numbers that are laid out. With more, the peripherals are placed in rows, without arrows. */
const MAX_DRAWN = { nodes: 60, edges: 240 };
const GAP = 24;
const COLUMNS = 8;

/** Lays out the hop graph for a page: small boxes without labels. The same spec set gives the same positions. */
export async function layOutViewGraph(specs: SpecSet): Promise<ViewGraph> {
  const picture = graphPictureOf(specs);
  const order = orderForReading(picture);
  const indexOf = (id: string) => order.indexOf(id);
  const nodes = picture.nodes.toSorted((a, b) => indexOf(a.id) - indexOf(b.id));
  const edges = picture.edges.toSorted((a, b) => indexOf(a.from) - indexOf(b.from) || indexOf(a.to) - indexOf(b.to));
  const boxes = nodes.map(({ id }) => ({
    id,
    width: Math.max(NODE.width, Math.ceil(estimateWidth(id, NODE.font)) + NODE.side),
    height: NODE.height,
  }));
  const small = nodes.length <= MAX_DRAWN.nodes && edges.length <= MAX_DRAWN.edges;
  const none = { width: 0, height: 0 };
  const layout = small
    ? await layOutGraph(
        boxes,
        edges.map(({ from, to }) => ({ from, to, label: none })),
      )
    : inRows(boxes);
  return {
    width: layout.width,
    height: layout.height,
    nodes: nodes.map(({ id, purpose, tools, effect }) => ({ id, purpose, tools, effect, ...layout.nodes[id]! })),
    edges: edges.map(({ from, to, exits }, index) => ({
      from,
      to,
      exits: exits.map(({ name }) => name),
      points: (layout.edges[index]?.points ?? []).map(({ x, y }) => [x, y] as const),
    })),
  };
}

type Layout = Awaited<ReturnType<typeof layOutGraph>>;

function inRows(boxes: readonly { readonly id: string; readonly width: number; readonly height: number }[]): Layout {
  const widest = Math.max(...boxes.map(({ width }) => width));
  const at = (index: number) => ({
    x: (index % COLUMNS) * (widest + GAP),
    y: Math.floor(index / COLUMNS) * (NODE.height + GAP),
  });
  return {
    width: Math.min(boxes.length, COLUMNS) * (widest + GAP) - GAP,
    height: Math.ceil(boxes.length / COLUMNS) * (NODE.height + GAP) - GAP,
    nodes: Object.fromEntries(boxes.map((box, index) => [box.id, { ...box, ...at(index) }])),
    edges: [],
  };
}
