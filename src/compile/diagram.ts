import { getOrInsert } from '../base/get-or-insert.ts';
import { describeNewRequirements } from './guarded-transition.ts';
import type { MachineJson } from './machine-json.ts';

/** One transition: the event's short name (`pass`, `stop`) and its needs in words. */
interface DiagramExit {
  readonly name: string;
  readonly needs: readonly string[];
}

/** All transitions between two states, joined. */
interface DiagramEdge {
  readonly from: string;
  readonly to: string;
  readonly ways: readonly DiagramExit[];
}

export interface DiagramNode {
  readonly id: string;
  readonly description: string | null;
  readonly initial: boolean;
  readonly final: boolean;
}

/** A machine as nodes and edges, from which each text format is rendered. */
export interface Diagram {
  readonly id: string;
  readonly nodes: readonly DiagramNode[];
  readonly edges: readonly DiagramEdge[];
}

/** Builds the diagram of a machine without the events in `omit`. Omits needs that the graph itself implies. Pure. */
export function buildDiagram({ id, initial, states }: MachineJson, omit: readonly string[] = []): Diagram {
  const edges = new Map<string, { from: string; to: string; ways: DiagramExit[] }>();
  for (const [from, { on = {} }] of Object.entries(states)) {
    for (const [event, { target: to, guard }] of Object.entries(on)) {
      if (omit.includes(event)) continue;
      const needs = describeNewRequirements(from, guard?.params.all ?? []);
      const edge = getOrInsert(edges, `${from} ${to}`, () => ({ from, to, ways: [] }));
      edge.ways.push({ name: event.endsWith(`.${to}`) ? event.slice(0, -to.length - 1) : event, needs });
    }
  }
  const nodes = Object.entries(states).map(([state, { description, type }]) => ({
    id: state,
    description: description ?? null,
    initial: state === initial,
    final: type === 'final',
  }));
  return { id, nodes, edges: [...edges.values()] };
}

/** Formats a transition as a label: `pass [result is pass, approval by operator]`. */
export const describeDiagramExit = ({ name, needs }: DiagramExit): string =>
  needs.length === 0 ? name : `${name} [${needs.join(', ')}]`;
