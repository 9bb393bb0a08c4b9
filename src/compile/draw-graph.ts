import type { SpecSet } from '../spec/types.ts';
import { GRAPH_FORMATS, renderGraph } from './render-graph.ts';
import { renderStately } from './stately/render-stately.ts';
import { renderSvg } from './svg/render-svg.ts';

/** All formats: text, drawings, and files for other tools. */
export const DRAWN_FORMATS = [...GRAPH_FORMATS, 'svg', 'stately'] as const;
export type DrawnFormat = (typeof DRAWN_FORMATS)[number];

/**
 * Renders the hop graph in any format. `current` marks the session's peripheral (null if outside); the Stately format
 * has no such mark. Ends with a line break. The same spec set gives the same bytes.
 * @example await drawGraph(specs, 'svg', { current: 'test' })
 */
export async function drawGraph(
  specs: SpecSet,
  format: DrawnFormat,
  options: { readonly current?: string | null } = {},
): Promise<string> {
  switch (format) {
    case 'svg':
      return renderSvg(specs, options);
    case 'stately':
      return renderStately(specs);
    default:
      return renderGraph(specs, format, options);
  }
}
