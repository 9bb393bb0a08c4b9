import type { SpecSet } from '../spec/types.ts';
import { HOP_GRAPH_ID } from './hop-graph.ts';
import { type DrawGraphOptions, GRAPH_FORMATS, renderGraph } from './render-graph.ts';
import { renderStately } from './stately/render-stately.ts';
import { renderSvg } from './svg/render-svg.ts';

/** All formats: text, drawings, and files for other tools. */
export const DRAWN_FORMATS = [...GRAPH_FORMATS, 'svg', 'stately'] as const;
export type DrawnFormat = (typeof DRAWN_FORMATS)[number];

/**
 * Renders a machine (default: the hop graph) in any format; as SVG only the hop graph. `current` marks a state, except
 * in the Stately format. Ends with a line break. The same spec set gives the same bytes.
 * @example await drawGraph(specs, 'svg', { current: 'test' })
 */
export async function drawGraph(specs: SpecSet, format: DrawnFormat, options: DrawGraphOptions = {}): Promise<string> {
  if (format === 'svg') return renderSvg(specs, options);
  if (format === 'stately') return renderStately(specs, options.machine ?? HOP_GRAPH_ID);
  return renderGraph(specs, format, options);
}
