import type { SpecSet } from '../../spec/types.ts';
import { layOutWithBars } from './bar-layout.ts';
import { drawEdge, labelSize } from './draw-edge.ts';
import { drawLegend } from './draw-legend.ts';
import { drawMatrix, isThicket } from './draw-matrix.ts';
import { drawNode, nodeSize } from './draw-node.ts';
import { type GraphLayout, layOut } from './layout.ts';
import { type Picture, pictureOf } from './picture.ts';
import { readingOrder } from './reading-order.ts';
import { STYLE } from './style.ts';
import { xml } from './text.ts';

const MARGIN = 24;

/**
 * Renders the hop graph as SVG for light and dark pages, without scripts or fonts. The same spec set gives the same
 * bytes. `current` marks the session's peripheral (null if outside). A graph too large for arrows becomes a table. Ends
 * with a line break.
 */
export async function renderSvg(
  specs: SpecSet,
  { current }: { readonly current?: string | null } = {},
): Promise<string> {
  const drawn = pictureOf(specs);
  if (isThicket(drawn)) {
    const { svg, words, ...size } = drawMatrix(drawn, current);
    return page(size, `${words}.${standsAt(current)}`, svg);
  }
  const picture = inReadingOrder(drawn);
  const boxes = picture.nodes.map((node) => ({ id: node.id, ...nodeSize(node) }));
  const arrows = picture.edges.map((edge) => ({ from: edge.from, to: edge.to, label: labelSize(edge) }));
  const bars = new Map(picture.nodes.map((node) => [node.id, nodeSize(node, 'bar')]));
  const barOf = (id: string) => bars.get(id) ?? { width: 0, height: 0 };
  const layout = (await layOutWithBars(boxes, arrows, barOf)) ?? (await layOut(boxes, arrows));
  return draw(picture, layout, current);
}

function inReadingOrder(picture: Picture): Picture {
  const order = readingOrder(picture);
  const place = (id: string) => order.indexOf(id);
  return {
    nodes: picture.nodes.toSorted((a, b) => place(a.id) - place(b.id)),
    edges: picture.edges.toSorted((a, b) => place(a.from) - place(b.from) || place(a.to) - place(b.to)),
  };
}

function draw(picture: Picture, layout: GraphLayout, current: string | null | undefined): string {
  const edges = picture.edges.map((edge, index) => {
    const { points = [], label = { x: 0, y: 0, width: 0, height: 0 } } = layout.edges[index] ?? {};
    return drawEdge(edge, points, label);
  });
  const nodes = picture.nodes.map((node) => {
    const place = layout.nodes[node.id];
    return place ? drawNode(node, place, node.id === current) : '';
  });
  const legend = drawLegend(picture, Math.max(layout.width, 640), current === null);
  const width = Math.max(layout.width, 640) + 2 * MARGIN;
  const height = layout.height + legend.height + 3 * MARGIN;
  return page(
    { width, height },
    inWords(picture, current),
    `<g transform="translate(${MARGIN + Math.round((width - 2 * MARGIN - layout.width) / 2)} ${MARGIN})">
${[...edges.map(({ arrow }) => arrow), ...nodes, ...edges.map(({ label }) => label)].join('\n')}
</g>
<g class="legend" transform="translate(${MARGIN} ${layout.height + 2 * MARGIN})">
${legend.svg}
</g>`,
  );
}

const page = (
  { width, height }: { readonly width: number; readonly height: number },
  words: string,
  body: string,
): string => `<svg xmlns="http://www.w3.org/2000/svg" class="hop-graph" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="hop-graph-title hop-graph-desc">
<title id="hop-graph-title">The hop graph</title>
<desc id="hop-graph-desc">${xml(words)}</desc>
<style>${STYLE}</style>
<rect class="page" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="12"/>
${body}
</svg>
`;

/** The picture for those who hear it. */
function inWords({ nodes, edges }: Picture, current: string | null | undefined): string {
  const hops = edges.map(({ from, to, ways }) => `${from} to ${to} by ${ways.map(({ exit }) => exit).join(', ')}`);
  return `Peripherals: ${nodes.map(({ id }) => id).join(', ')}. Hops: ${hops.join('; ')}.${standsAt(current)}`;
}

const standsAt = (current: string | null | undefined): string =>
  current === undefined ? '' : ` The session stands ${current === null ? 'outside' : `in ${current}`}.`;
