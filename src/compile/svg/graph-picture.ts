import { describeRequirement, type Requirement } from '../../gate/requirements/requirement.ts';
import type { PeripheralSpec, SpecSet, ToolEffect } from '../../spec/types.ts';
import { requirementsNotImplied } from '../guarded-transition.ts';
import { compileHopGraph } from '../hop-graph.ts';
import { OUTSIDE_STATE } from '../special-states.ts';

/** Kind of a need: the mark that is drawn before its words. */
export type NeedMark = 'approval' | 'operator' | 'condition' | 'pattern' | 'close' | 'observed' | 'agent';

export interface MarkedNeed {
  readonly mark: NeedMark;
  readonly words: string;
}

interface PictureExit {
  readonly name: string;
  /** True if the exit needs a certain observed fruit. */
  readonly observed: boolean;
  readonly needs: readonly MarkedNeed[];
}

export interface PictureEdge {
  readonly from: string;
  readonly to: string;
  readonly exits: readonly PictureExit[];
  /** The needs that all exits of this arrow share; they are drawn once. */
  readonly needs: readonly MarkedNeed[];
}

export interface PictureNode {
  readonly id: string;
  readonly purpose: string;
  readonly tools: readonly string[];
  /** The strongest effect of the peripheral's tools; null if it has no tools. */
  readonly effect: ToolEffect | null;
  /** The ways to start a visit while the session is in no peripheral, in words; null if only a hop leads here. */
  readonly start: string | null;
  /** The needs that all hops to the peripheral share; they are drawn here instead of on the arrows. */
  readonly entryNeeds: readonly MarkedNeed[];
}

/** The hop graph as a person would draw it: peripherals, arrows and their needs. */
export interface GraphPicture {
  readonly nodes: readonly PictureNode[];
  readonly edges: readonly PictureEdge[];
}

/** Builds the picture of a spec set. Needs that all hops to a peripheral share move to the peripheral. Pure. */
export function graphPictureOf(specs: SpecSet): GraphPicture {
  const { states } = compileHopGraph(specs);
  const drawn: PictureEdge[] = [];
  for (const from of Object.keys(specs.peripherals)) {
    const byTarget = Map.groupBy(Object.entries(states[from]?.on ?? {}), ([, { target }]) => target);
    for (const [to, transitions] of byTarget) {
      if (to === OUTSIDE_STATE) continue;
      const exits = transitions.map(([event, { guard }]) =>
        exitOf(event.slice(0, -to.length - 1), requirementsNotImplied(from, guard?.params.all ?? [])),
      );
      drawn.push(joinExits(from, to, exits));
    }
  }
  const entryNeedsById = new Map(
    Object.keys(specs.peripherals).map((id) => [id, entryNeedsOf(drawn.filter(({ to }) => to === id))]),
  );
  const edges = drawn.map((edge) => ({
    ...edge,
    needs: remainingNeeds(edge.needs, entryNeedsById.get(edge.to) ?? []),
  }));
  const nodes = Object.values(specs.peripherals).map((peripheral) => ({
    id: peripheral.id,
    purpose: peripheral.purpose,
    tools: peripheral.tools,
    effect: effectOf(specs, peripheral),
    start: startInWords(states[OUTSIDE_STATE]?.on?.[`start.${peripheral.id}`]?.guard?.params.all),
    entryNeeds: entryNeedsById.get(peripheral.id) ?? [],
  }));
  return { nodes, edges };
}

function exitOf(exit: string, requirements: readonly Requirement[]): PictureExit {
  const observed = requirements.some((need) => need.kind === 'fruit' && need.value === exit);
  const byOperator = requirements.some((need) => need.kind === 'principal' && need.is === 'operator');
  const drawnNeeds = requirements.filter(
    (need) =>
      !(need.kind === 'fruit' && need.value === exit) &&
      !(byOperator && need.kind === 'source' && need.any.includes('user-request')),
  );
  return {
    name: exit,
    observed,
    needs: drawnNeeds.map((need) => ({ mark: MARK_OF_NEED[need.kind], words: describeRequirement(need) })),
  };
}

function joinExits(from: string, to: string, exits: readonly PictureExit[]): PictureEdge {
  const needs = sharedNeeds(exits.map((exit) => exit.needs));
  return { from, to, needs, exits: exits.map((exit) => ({ ...exit, needs: remainingNeeds(exit.needs, needs) })) };
}

const entryNeedsOf = (edges: readonly PictureEdge[]): readonly MarkedNeed[] =>
  edges.length < 2 ? [] : sharedNeeds(edges.map(({ needs }) => needs));

const isIn = (need: MarkedNeed, needs: readonly MarkedNeed[]): boolean =>
  needs.some(({ mark, words }) => mark === need.mark && words === need.words);
const sharedNeeds = ([first = [], ...others]: readonly (readonly MarkedNeed[])[]): readonly MarkedNeed[] =>
  first.filter((need) => others.every((needs) => isIn(need, needs)));
const remainingNeeds = (needs: readonly MarkedNeed[], excluded: readonly MarkedNeed[]): readonly MarkedNeed[] =>
  needs.filter((need) => !isIn(need, excluded));

const startInWords = (requirements: readonly Requirement[] | undefined): string | null =>
  requirements === undefined ? null : requirements.map(describeRequirement).join(', ');

function effectOf({ tools }: SpecSet, peripheral: PeripheralSpec): ToolEffect | null {
  const effects = new Set(peripheral.tools.map((tool) => tools[tool]?.effect));
  return (['act', 'simulate', 'observe', 'coordinate'] as const).find((effect) => effects.has(effect)) ?? null;
}

const MARK_OF_NEED: { readonly [kind in Requirement['kind']]: NeedMark } = {
  approval: 'approval',
  source: 'operator',
  principal: 'operator',
  'natural-close': 'close',
  fruit: 'observed',
  pattern: 'pattern',
  agent: 'agent',
  condition: 'condition',
  when: 'condition',
  summary: 'condition',
};
