import type { SpecSet } from '../spec/types.ts';
import { renderPage } from './html/render-page.ts';
import { GRAPH_FORMATS, renderGraph } from './render-graph.ts';
import { renderStately } from './stately/render-stately.ts';
import { renderSvg } from './svg/render-svg.ts';

/** The text formats, and those that are drawn or made for other tools. */
export const DRAWN_FORMATS = [...GRAPH_FORMATS, 'svg', 'html', 'stately'] as const;
export type DrawnFormat = (typeof DRAWN_FORMATS)[number];

/**
 * The hop graph in any format. `current` marks where a session stands (null: outside); a machine for Stately has no such mark. Ends in a line
 * break; the same spec set gives the same bytes.
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
    case 'html':
      return renderPage(specs, options);
    case 'stately':
      return renderStately(specs);
    default:
      return renderGraph(specs, format, options);
  }
}
