import type { SpecSet } from '../spec/types.ts';
import { diagramOf } from './diagram.ts';
import { compileHopGraph } from './hop-graph.ts';
import { toDot, toMermaid } from './render-diagram.ts';
import { OUTSIDE } from './special-states.ts';

export const GRAPH_FORMATS = ['mermaid', 'dot', 'json'] as const;
export type GraphFormat = (typeof GRAPH_FORMATS)[number];

/**
 * Renders the hop graph as text: one line per pair of peripherals with all exits between them and their needs.
 * `current` marks the session's peripheral (null if outside). Stops are omitted, since every peripheral has one. Ends
 * with a line break. Pure.
 * @example renderGraph(specs, 'mermaid', { current: 'test' })
 */
export function renderGraph(
  specs: SpecSet,
  format: GraphFormat,
  { current }: { readonly current?: string | null } = {},
): string {
  const diagram = diagramOf(compileHopGraph(specs), ['stop']);
  const here = current === null ? OUTSIDE : current;
  switch (format) {
    case 'mermaid':
      return toMermaid(diagram, here);
    case 'dot':
      return toDot(diagram, here);
    case 'json':
      return `${JSON.stringify({ ...diagram, current: here ?? null }, null, 2)}\n`;
    default:
      throw new Error(`unknown graph format ${JSON.stringify(format satisfies never)}`);
  }
}
