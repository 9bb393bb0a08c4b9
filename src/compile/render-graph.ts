import type { SpecSet } from '../spec/types.ts';
import { diagramOf } from './diagram.ts';
import { compileHopGraph } from './hop-graph.ts';
import { OUTSIDE } from './no-peripheral.ts';
import { toDot, toMermaid } from './render-diagram.ts';

export const GRAPH_FORMATS = ['mermaid', 'dot', 'json'] as const;
export type GraphFormat = (typeof GRAPH_FORMATS)[number];

/**
 * The hop graph as text: one line per pair of peripherals, all exits between them on it, with what each needs. `current` marks where a session
 * stands (null: outside). The stops, of which every peripheral has one, are left out. Ends in a line break. Pure.
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
