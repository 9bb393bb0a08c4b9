import type { SpecSet } from '../spec/types.ts';
import { compileMachineConfigs } from './compile-specs.ts';
import { buildDiagram } from './diagram.ts';
import { compileHopGraph, HOP_GRAPH_ID } from './hop-graph.ts';
import { renderDot, renderMermaid } from './render-diagram.ts';
import { OUTSIDE_STATE } from './special-states.ts';

export const GRAPH_FORMATS = ['mermaid', 'dot', 'json'] as const;
type GraphFormat = (typeof GRAPH_FORMATS)[number];

export interface DrawGraphOptions {
  /** The machine to draw. Default: the hop graph. */
  readonly machine?: string;
  /** The state to mark as current; null marks the state in which the session is in no peripheral. */
  readonly current?: string | null;
}

/**
 * Renders a machine as text: one line per pair of states with all events between them and their needs. Stops are
 * omitted in the hop graph, since every peripheral has one. Ends with a line break. Pure. Throws if the spec set has no
 * machine of this id.
 * @example renderGraph(specs, 'mermaid', { current: 'test' })
 */
export function renderGraph(
  specs: SpecSet,
  format: GraphFormat,
  { machine = HOP_GRAPH_ID, current }: DrawGraphOptions = {},
): string {
  const config =
    machine === HOP_GRAPH_ID ? compileHopGraph(specs) : compileMachineConfigs(specs).find(({ id }) => id === machine);
  if (!config) throw new Error(`there is no machine "${machine}"`);
  const diagram = buildDiagram(config, machine === HOP_GRAPH_ID ? ['stop'] : []);
  const here = current === null ? OUTSIDE_STATE : current;
  if (format === 'mermaid') return renderMermaid(diagram, here);
  if (format === 'dot') return renderDot(diagram, here);
  if (format === 'json') return `${JSON.stringify({ ...diagram, current: here ?? null }, null, 2)}\n`;
  throw new Error(`unknown graph format ${JSON.stringify(format satisfies never)}`);
}
