import type { ElkExtendedEdge, ElkNode } from 'elkjs';

export interface Size {
  readonly width: number;
  readonly height: number;
}
export interface Point {
  readonly x: number;
  readonly y: number;
}
export interface Rectangle extends Point, Size {}

/** The positions of all boxes and arrows, in whole pixels. */
export interface GraphLayout extends Size {
  readonly nodes: { readonly [id: string]: Rectangle };
  /** The arrows, in the order of the input. */
  readonly edges: readonly { readonly points: readonly Point[]; readonly label: Rectangle }[];
}

/** Fixed options, so that the same graph gives the same picture everywhere. */
const OPTIONS = {
  'elk.algorithm': 'layered',
  'elk.direction': 'DOWN',
  'elk.randomSeed': '7',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.layered.thoroughness': '60',
  'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX',
  'elk.layered.crossingMinimization.strategy': 'LAYER_SWEEP',
  'elk.layered.cycleBreaking.strategy': 'MODEL_ORDER',
  'elk.spacing.nodeNode': '28',
  'elk.spacing.edgeNode': '18',
  'elk.spacing.edgeEdge': '14',
  'elk.spacing.edgeLabel': '4',
  'elk.layered.spacing.nodeNodeBetweenLayers': '24',
  'elk.layered.spacing.edgeNodeBetweenLayers': '14',
  'elk.layered.spacing.edgeEdgeBetweenLayers': '11',
  'elk.padding': '[top=0,left=0,bottom=0,right=0]',
};

/** Lays out boxes and labelled arrows by ELK's layered algorithm. Deterministic. Imports the library on demand. */
export async function layOutGraph(
  nodes: readonly ({ readonly id: string } & Size)[],
  edges: readonly { readonly from: string; readonly to: string; readonly label: Size }[],
): Promise<GraphLayout> {
  const { default: elk } = await import('elkjs/lib/elk.bundled.js');
  const graph: ElkNode = {
    id: 'graph',
    layoutOptions: OPTIONS,
    children: nodes.map(({ id, width, height }) => ({ id: `n:${id}`, width, height })),
    edges: edges.map(({ from, to, label }, index) => ({
      id: `e:${index}`,
      sources: [`n:${from}`],
      targets: [`n:${to}`],
      labels:
        label.height === 0
          ? []
          : [{ id: `l:${index}`, text: 'x', ...label, layoutOptions: { 'elk.edgeLabels.inline': 'true' } }],
    })),
  };
  const { width = 0, height = 0, children = [], edges: laid = [] } = await new elk.default().layout(graph);
  const at = new Map(children.map((child) => [child.id, rectangleOf(child)]));
  const routes = new Map(laid.map((edge) => [edge.id, edge]));
  return {
    width: Math.round(width),
    height: Math.round(height),
    nodes: Object.fromEntries(nodes.map(({ id }) => [id, at.get(`n:${id}`) ?? rectangleOf({})])),
    edges: edges.map((_, index) => routeOf(routes.get(`e:${index}`))),
  };
}

function routeOf(edge: ElkExtendedEdge | undefined): { points: Point[]; label: Rectangle } {
  const points = (edge?.sections ?? []).flatMap(({ startPoint, bendPoints = [], endPoint }) => [
    startPoint,
    ...bendPoints,
    endPoint,
  ]);
  return {
    points: points.map(({ x, y }) => ({ x: Math.round(x), y: Math.round(y) })),
    label: rectangleOf(edge?.labels?.[0] ?? {}),
  };
}

const rectangleOf = ({ x = 0, y = 0, width = 0, height = 0 }: Partial<Rectangle>): Rectangle => ({
  x: Math.round(x),
  y: Math.round(y),
  width: Math.round(width),
  height: Math.round(height),
});
