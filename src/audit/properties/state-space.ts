import { getOrInsert } from '../../base/get-or-insert.ts';
import type { Edge, SpecSet } from '../../spec/types.ts';
import {
  type AbstractMove,
  AbstractMoveFinder,
  type AbstractState,
  listDistinguishedAgents,
  listTestTools,
  UNNAMED_AGENT,
} from './abstract-session.ts';
import { peripheralsCountedByRules } from './can-rule-hold.ts';

/** A reachable state and a shortest path to it. */
export interface ReachableState {
  readonly state: AbstractState;
  readonly before: ReachableState | null;
  readonly move: AbstractMove | null;
}

/** Equal keys mean the same state. */
export const abstractStateKey = (state: AbstractState): string =>
  JSON.stringify([
    state.agent,
    state.peripheral,
    state.mode,
    state.begun,
    Object.values(state.visited),
    state.passed,
    state.seen,
    Object.entries(state.results).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  ]);

/** The names of the moves to a node, and of `last` if present. They begin with the agent, if its name matters. */
export const moveNamesToState = (node: ReachableState, last?: AbstractMove): readonly string[] => {
  const { agent } = node.state;
  const names: string[] = last ? [last.name] : [];
  for (let at: ReachableState | null = node; at?.move; at = at.before) names.push(at.move.name);
  return [...(agent === UNNAMED_AGENT ? [] : [`as agent ${agent}`]), ...names.toReversed()];
};

/** Returns the state space that remembers the last test results of these peripherals. */
export type GetStateSpace = (peripherals: readonly string[]) => StateSpace;

/**
 * Estimated number of states up to which all test results are kept, and the visits that rules count are followed. Each
 * testing peripheral multiplies the number by four, and each peripheral whose visits are counted by two.
 */
const MAX_STATES = 20_000;

/** Returns a function that gives the state spaces of a spec set, and explores each space once. */
export function exploreStateSpacesOf(specs: SpecSet): GetStateSpace {
  const testing = Object.values(specs.peripherals).filter((spec) => listTestTools(specs, spec).length > 0);
  const few = listDistinguishedAgents(specs).length * specs.edges.length;
  const always = few * 4 ** testing.length <= MAX_STATES ? testing.map(({ id }) => id) : [];
  const counted = peripheralsCountedByRules(specs);
  const followed = few * 4 ** always.length * 2 ** counted.length <= MAX_STATES ? counted : [];
  const spaces = new Map<string, StateSpace>();
  return (peripherals) => {
    const remembered = new Set([...always, ...peripherals].sort());
    const key = [...remembered].join(' ');
    return getOrInsert(spaces, key, () => new StateSpace(specs, remembered, followed));
  };
}

/** The reachable states, each with a shortest path, and the moves between them. */
export class StateSpace {
  readonly nodes: readonly ReachableState[];
  readonly sessions: AbstractMoveFinder;
  readonly #moves = new Map<string, readonly AbstractMove[]>();
  #byPeripheral: Map<string | null, ReachableState[]> | undefined;

  constructor(specs: SpecSet, remembered: ReadonlySet<string>, followed: readonly string[]) {
    this.sessions = new AbstractMoveFinder(specs, remembered, followed);
    // A check that nothing can report yet has not passed, so each new report may open further peripherals.
    let nodes = this.explore(() => true);
    while (this.sessions.addReports(nodes.map(({ state }) => state))) {
      this.#moves.clear();
      nodes = this.explore(() => true);
    }
    this.nodes = nodes;
  }

  moves(state: AbstractState): readonly AbstractMove[] {
    const key = abstractStateKey(state);
    return getOrInsert(this.#moves, key, () => this.sessions.moves(state));
  }

  /** The states that are reachable by moves that `allows` accepts. */
  explore(allows: (state: AbstractState, move: AbstractMove) => boolean): readonly ReachableState[] {
    const nodes: ReachableState[] = this.sessions.initial().map((state) => ({ state, before: null, move: null }));
    const seen = new Set(nodes.map(({ state }) => abstractStateKey(state)));
    for (const node of nodes) {
      for (const move of this.moves(node.state)) {
        if (!allows(node.state, move)) continue;
        const key = abstractStateKey(move.to);
        if (seen.has(key)) continue;
        seen.add(key);
        nodes.push({ state: move.to, before: node, move });
      }
    }
    return nodes;
  }

  /**
   * Returns the reason why an edge can never be taken; null if it can. The reason is a requirement that fails in every
   * state at the edge's source or, if there is none, the requirements that never hold together.
   * @param agent counts only this agent's states
   */
  blockedBy(edge: Edge, agent?: string): string | null {
    this.#byPeripheral ??= Map.groupBy(this.nodes, ({ state }) => state.peripheral);
    const nodes = (this.#byPeripheral.get(edge.from) ?? []).filter(
      ({ state }) => (agent ?? state.agent) === state.agent,
    );
    if (nodes.length === 0) return `no session reaches ${edge.from}`;
    const met = new Set<string>();
    let everywhere: readonly string[] | null = null;
    for (const { state } of nodes) {
      const found = [...this.sessions.obstacles(state, edge)];
      if (found.length === 0) return null;
      for (const obstacle of found) met.add(obstacle);
      everywhere = everywhere === null ? found : everywhere.filter((obstacle) => found.includes(obstacle));
    }
    return everywhere?.[0] ?? `always ${[...met].join(', or ')}`;
  }

  /** The first node from which no hops, steps and mode changes lead to a state that `isGoal` accepts; null if none. */
  firstUnableToReach(isGoal: (state: AbstractState) => boolean): ReachableState | null {
    const into = new Map<string, string[]>();
    const good: string[] = [];
    for (const { state } of this.nodes) {
      const from = abstractStateKey(state);
      if (isGoal(state)) good.push(from);
      for (const move of this.moves(state)) {
        if (move.kind === 'start' || move.kind === 'stop') continue;
        getOrInsert(into, abstractStateKey(move.to), (): string[] => []).push(from);
      }
    }
    const reached = new Set(good);
    for (const key of good) {
      for (const before of into.get(key) ?? []) {
        if (reached.has(before)) continue;
        reached.add(before);
        good.push(before);
      }
    }
    return this.nodes.find(({ state }) => state.peripheral !== null && !reached.has(abstractStateKey(state))) ?? null;
  }
}
