import type { SpecSet } from '../../spec/types.ts';
import { drawEdge, measureEdgeLabel } from './draw-edge.ts';
import { drawLegend } from './draw-legend.ts';
import { drawNode, measureNode } from './draw-node.ts';
import { type GraphLayout, layOutGraph } from './graph-layout.ts';
import { type GraphPicture, graphPictureOf } from './graph-picture.ts';
import { orderForReading } from './reading-order.ts';
import { SVG_STYLE } from './svg-style.ts';
import { escapeXml } from './svg-text.ts';

const MARGIN = 24;

/** Maximum numbers of boxes and arrows; with more, arrows are unreadable and take minutes to lay out. */
const MAX_DRAWN = { nodes: 60, edges: 240 };

/** Thrown for a hop graph with more peripherals or hops than a drawing can show. */
export class GraphTooLargeError extends Error {
  override readonly name = 'GraphTooLargeError';
}

/**
 * Renders the hop graph as SVG for light and dark pages, without scripts or fonts. The same spec set gives the same
 * bytes. `current` marks the session's peripheral (null if outside). Ends with a line break.
 * @throws {GraphTooLargeError} with more than 60 peripherals, or hops between more than 240 pairs of them
 */
export async function renderSvg(
  specs: SpecSet,
  { current }: { readonly current?: string | null } = {},
): Promise<string> {
  const picture = graphPictureOf(specs);
  const { nodes, edges } = picture;
  if (nodes.length > MAX_DRAWN.nodes || edges.length > MAX_DRAWN.edges) {
    throw new GraphTooLargeError(
      `the graph has ${nodes.length} peripherals and ${edges.length} arrows; a drawing shows at most ${MAX_DRAWN.nodes} and ${MAX_DRAWN.edges}`,
    );
  }
  const ordered = inReadingOrder(picture);
  const boxes = ordered.nodes.map((node) => ({ id: node.id, ...measureNode(node) }));
  const arrows = ordered.edges.map((edge) => ({ from: edge.from, to: edge.to, label: measureEdgeLabel(edge) }));
  return draw(ordered, await layOutGraph(boxes, arrows), current);
}

function inReadingOrder(picture: GraphPicture): GraphPicture {
  const order = orderForReading(picture);
  const indexOf = (id: string) => order.indexOf(id);
  return {
    nodes: picture.nodes.toSorted((a, b) => indexOf(a.id) - indexOf(b.id)),
    edges: picture.edges.toSorted((a, b) => indexOf(a.from) - indexOf(b.from) || indexOf(a.to) - indexOf(b.to)),
  };
}

function draw(picture: GraphPicture, layout: GraphLayout, current: string | null | undefined): string {
  const edges = picture.edges.map((edge, index) => {
    const { points = [], label = { x: 0, y: 0, width: 0, height: 0 } } = layout.edges[index] ?? {};
    return drawEdge(edge, points, label);
  });
  const nodes = picture.nodes.map((node) => {
    const box = layout.nodes[node.id];
    return box ? drawNode(node, box, node.id === current) : '';
  });
  const legend = drawLegend(picture, Math.max(layout.width, 640), current === null);
  const width = Math.max(layout.width, 640) + 2 * MARGIN;
  const height = layout.height + legend.height + 3 * MARGIN;
  return `<svg xmlns="http://www.w3.org/2000/svg" class="hop-graph" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="hop-graph-title hop-graph-desc">
<title id="hop-graph-title">The hop graph</title>
<desc id="hop-graph-desc">${escapeXml(describePicture(picture, current))}</desc>
<style>${SVG_STYLE}</style>
<rect class="page" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="12"/>
<g transform="translate(${MARGIN + Math.round((width - 2 * MARGIN - layout.width) / 2)} ${MARGIN})">
${[...edges.map(({ arrow }) => arrow), ...nodes, ...edges.map(({ label }) => label)].join('\n')}
</g>
<g class="legend" transform="translate(${MARGIN} ${layout.height + 2 * MARGIN})">
${legend.svg}
</g>
</svg>
`;
}

/** Returns the description of the picture for screen readers. */
function describePicture({ nodes, edges }: GraphPicture, current: string | null | undefined): string {
  const hops = edges.map(({ from, to, exits }) => `${from} to ${to} by ${exits.map(({ name }) => name).join(', ')}`);
  const whereText = current === undefined ? '' : ` The session is ${current === null ? 'outside' : `in ${current}`}.`;
  return `Peripherals: ${nodes.map(({ id }) => id).join(', ')}. Hops: ${hops.join('; ')}.${whereText}`;
}
