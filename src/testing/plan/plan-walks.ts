import type { AuditState } from '../../audit/rules/audit-state.ts';
import { getOrInsert } from '../../base/get-or-insert.ts';
import { plural } from '../../base/text.ts';
import type { Edge, SpecSet } from '../../spec/types.ts';
import { doRulesReadDenials } from '../model/cel-rules-text.ts';
import type { HopModel } from '../model/session-model.ts';
import type { FiniteModel, ModelRoute } from '../model/shortest-routes.ts';
import type { Move } from './move.ts';
import { itemsCoveredByMove, type PlannedCase, peripheralNameOf } from './planned-case.ts';
import { isMoveAllowed } from './predict-state.ts';
import { searchModelRoute, searchRouteToGoal } from './search-route.ts';

/**
 * Minimum number of moves in a walk while edges are left to cover: the larger of a fixed number and a number per
 * peripheral. The session of each walk stores the whole spec set, so a larger set gets longer walks instead of more.
 */
const MIN_WALK_MOVES = 60;
const MIN_WALK_MOVES_PER_PERIPHERAL = 0.06;
/** Maximum number of moves on routes back, in all walks together: enough for about 300 edges. */
const MAX_RETURN_MOVES = 1500;
/** The cost of a search that finds no route back, in moves on routes back. */
const FAILED_RETURN_COST = 5;
/** Maximum number of states that a search for a route back visits. */
const MAX_RETURN_STATES = 2000;
/** Maximum number of states that a search for a new edge visits. */
const MAX_SEARCH_STATES = 20_000;
/** Divided by the number of peripherals: the maximum for a search whose states include the visited peripherals. */
const MAX_EXACT_STATES = 10_000_000;

/**
 * Long walks that take every edge with few steps, for spec sets where shortest routes to each would be too many. After
 * an edge that no walk took before, a walk returns to its source by the shortest route, if there is one.
 * @param coveredBefore the items that other cases cover: every change of mode, which depends on no peripheral
 */
export function planWalkCases(
  model: HopModel,
  prefix: readonly Move[],
  specs: SpecSet,
  coveredBefore: ReadonlySet<string>,
): { cases: PlannedCase[]; reachable: Set<string> } {
  const progress = new WalkProgress(specs, coveredBefore);
  const searches = makeSearches(model, specs, progress);
  const minMoves = Math.max(MIN_WALK_MOVES, MIN_WALK_MOVES_PER_PERIPHERAL * Object.keys(specs.peripherals).length);
  const cases: PlannedCase[] = [];
  for (;;) {
    const { moves, trips } = planWalk(model, searches, progress, minMoves);
    if (moves.length === 0) return { cases, reachable: progress.covered };
    cases.push({
      group: 'walks',
      name: `walk ${cases.length + 1}: ${moves.length} moves${trips > 0 ? `, ${plural(trips, 'hop')} out and back` : ''}`,
      moves: [...prefix, ...moves],
      provoke: 'all',
    });
  }
}

/** The next walk; without moves if nothing new can be reached. */
function planWalk(
  model: HopModel,
  searches: readonly Search[],
  progress: WalkProgress,
  minMoves: number,
): { readonly moves: readonly Move[]; readonly trips: number } {
  const moves: Move[] = [];
  let at = model.initial;
  let trips = 0;
  // The number of moves up to the first new edge. The walk ends after four times as many moves, so that at most about
  // a quarter of all moves repeat earlier ones.
  let approach = 0;
  const take = (route: Route) => {
    progress.add(route);
    moves.push(...route.moves);
    at = route.states.at(-1)!;
  };
  while (moves.length < Math.max(minMoves, 4 * approach)) {
    const route = findNewRoute(model, searches, progress, at);
    if (!route) break;
    if (moves.length === 0) approach = route.moves.length;
    take(route);
    const [source, last] = [route.states.at(-2)!, route.moves.at(-1)!];
    if (!isHop(last) || progress.returnMovesLeft <= 0) continue;
    progress.tried.add(itemsCoveredByMove(source, last)[0]!);
    const back = findRouteBack(model, searches, at, peripheralNameOf(source));
    progress.returnMovesLeft -= back?.moves.length ?? FAILED_RETURN_COST;
    if (!back) continue;
    trips += 1;
    take(back);
  }
  return { moves, trips };
}

type Route = ModelRoute<AuditState, Move>;
type Graph = FiniteModel<AuditState, Move>;

/** The items that the walks have covered, and the number of moves that are left for routes back. */
class WalkProgress {
  readonly covered: Set<string>;
  /** The edges from which a route back was searched. */
  readonly tried = new Set<string>();
  returnMovesLeft = MAX_RETURN_MOVES;
  readonly #edges: readonly string[];
  readonly #edgesToCover: string[];
  readonly #startsToCover: string[];

  constructor({ edges, peripherals }: SpecSet, coveredBefore: ReadonlySet<string>) {
    this.covered = new Set(coveredBefore);
    this.#edges = [...new Set(edges.map(edgeItem))];
    this.#edgesToCover = [...this.#edges];
    this.#startsToCover = Object.values(peripherals).flatMap(({ id, entry }) =>
      entry.sources.some(({ kind }) => STARTING_SOURCES.includes(kind)) ? [`start ${id}`] : [],
    );
  }

  add({ moves, states }: Route): void {
    moves.forEach((move, index) => {
      for (const item of itemsCoveredByMove(states[index]!, move)) this.covered.add(item);
    });
  }

  /** True if a move covers an item for the first time, or takes an edge from which no route back was searched. */
  readonly isNew = (state: AuditState, move: Move): boolean => {
    const [edge, ...more] = itemsCoveredByMove(state, move);
    if (edge === undefined) return false;
    const isUntried = this.returnMovesLeft > 0 && isHop(move) && !this.tried.has(edge);
    return isUntried || [edge, ...more].some((item) => !this.covered.has(item));
  };

  get areEdgesCovered(): boolean {
    return this.#isEachCovered(this.#edgesToCover);
  }

  get areStartsCovered(): boolean {
    return this.#isEachCovered(this.#startsToCover);
  }

  get areEdgesUntried(): boolean {
    return this.returnMovesLeft > 0 && this.tried.size < this.#edges.length;
  }

  /** Removes covered items from the end of the list: a covered item stays covered. */
  #isEachCovered(items: string[]): boolean {
    while (items.length > 0 && this.covered.has(items.at(-1)!)) items.pop();
    return items.length === 0;
  }
}

/** A search for a route to a new edge. `most` is the maximum number of states that it visits. */
type Search = ReturnType<typeof makeSearches>[number];

/**
 * Each search finds routes that the search before it misses, but costs more. The second search follows only one of the
 * states with equal rough keys, instead of joining them. `spent` are states from which a search found no new edge. All
 * walks share them, because a covered edge never becomes new again.
 */
function makeSearches(model: HopModel, specs: SpecSet, { isNew }: WalkProgress) {
  const peripherals = Object.keys(specs.peripherals).length;
  const rough = graphOf({ ...model, key: model.roughKey });
  const joined = graphOf(model);
  const graphs = [rough, { ...joined, key: rough.key }, joined, model].map((graph, nth) => ({
    graph,
    exactKey: nth === 1 ? joined.key : graph.key,
    isExact: nth >= 2,
    most: nth < 2 ? MAX_SEARCH_STATES : Math.min(MAX_SEARCH_STATES, MAX_EXACT_STATES / peripherals),
  }));
  // A search without refused requests has fewer states, and most edges need none.
  const withoutRefused = ({ graph, ...search }: (typeof graphs)[number]) => ({
    ...search,
    graph: { ...graph, moves: (state: AuditState) => graph.moves(state).filter(({ refused }) => !refused) },
  });
  const all = doRulesReadDenials(specs) ? [...graphs.map(withoutRefused), ...graphs] : graphs;
  return all.map((search) => ({ ...search, findNew: newMovesIn(search.graph, isNew), spent: new Set<string>() }));
}

/** Returns a function that finds a state's first move that may be new. Other moves never become new again. */
function newMovesIn(graph: Graph, isNew: WalkProgress['isNew']) {
  const candidates = new WeakMap<AuditState, Move[]>();
  return (state: AuditState): Move | undefined => {
    const left = getOrInsert(candidates, state, () => [...graph.moves(state)].reverse());
    while (left.length > 0 && !isNew(state, left.at(-1)!)) left.pop();
    return left.at(-1);
  };
}

/** The shortest route from a state to a move that no test covers yet; null if none is found. */
function findNewRoute(
  model: HopModel,
  searches: readonly Search[],
  progress: WalkProgress,
  at: AuditState,
): Route | null {
  const { areEdgesCovered } = progress;
  const isCovered = areEdgesCovered && progress.areStartsCovered;
  // If all edges are covered, a search would visit states up to its limit. Within a visit it could find nothing new:
  // only a new session can start in another peripheral.
  if (areEdgesCovered && !progress.areEdgesUntried && (isCovered || at.visit)) return null;
  for (const search of searches) {
    const { graph, exactKey, isExact, findNew, spent, most } = search;
    if (isExact && isCovered) continue;
    const found = searchRouteToGoal(graph, at, findNew, most, spent, exactKey);
    if (found === 'limit reached') {
      // The searches after this one visit more states, so they would reach their limits, too.
      search.most /= 2;
      return null;
    }
    const route = found === 'not found' ? null : followRoute(model, at, found);
    if (route) return route;
  }
  return null;
}

/** The shortest route from a state to a peripheral; null if none is found. */
function findRouteBack(model: HopModel, searches: readonly Search[], at: AuditState, to: string): Route | null {
  const isBack = (_: AuditState, { asked }: Move) => asked.kind === 'hop' && asked.to === to;
  for (const { graph } of searches.slice(0, -1)) {
    const back = followRoute(model, at, searchModelRoute(graph, at, isBack, MAX_RETURN_STATES));
    if (back) return back;
  }
  return null;
}

const edgeItem = ({ from, exit, to }: Edge): string => `edge ${from} ${exit} ${to}`;
const STARTING_SOURCES: readonly string[] = ['default', 'session-close', 'user-request'];

const isHop = ({ asked }: Move): boolean => asked.kind === 'hop';

/** A model that joins states with equal keys, and computes the moves and the next state of each once. */
function graphOf(model: FiniteModel<AuditState, Move>): FiniteModel<AuditState, Move> {
  const keys = new WeakMap<AuditState, string>();
  const states = new Map<string, AuditState>();
  const nextStates = new Map<string, { readonly moves: readonly Move[]; readonly next: Map<Move, AuditState> }>();
  const key = (state: AuditState): string => getOrInsert(keys, state, () => model.key(state));
  const representative = (state: AuditState): AuditState => getOrInsert(states, key(state), () => state);
  const nextStatesOf = (state: AuditState) =>
    getOrInsert(nextStates, key(state), () => {
      const from = representative(state);
      const moves = model.moves(from);
      return { moves, next: new Map(moves.map((move) => [move, representative(model.next(from, move))])) };
    });
  return {
    initial: model.initial,
    key,
    moves: (state) => nextStatesOf(state).moves,
    next: (state, move) => nextStatesOf(state).next.get(move)!,
  };
}

/** A route of the graph, made from this state; null if a move is not allowed, because the state's key omits details. */
function followRoute(
  model: FiniteModel<AuditState, Move>,
  from: AuditState,
  route: ModelRoute<AuditState, Move> | null,
): ModelRoute<AuditState, Move> | null {
  if (!route) return null;
  const states = [from];
  for (const move of route.moves) {
    const at = states.at(-1)!;
    // Without a cache, all moves of a hub with a thousand exits would be judged again after each return to it.
    if (!move.refused && !isMoveAllowed(at, move)) return null;
    states.push(model.next(at, move));
  }
  return { moves: route.moves, states };
}
