import type { FiniteModel, ModelRoute } from '../model/shortest-routes.ts';

/**
 * Finds the shortest route from a state to a move that `isGoal` accepts, by a breadth-first search. Returns null if the
 * search finds none within `limit` states.
 */
export function searchModelRoute<State, Move extends { readonly name: string }>(
  model: FiniteModel<State, Move>,
  from: State,
  isGoal: (state: State, move: Move) => boolean,
  limit = 20_000,
): ModelRoute<State, Move> | null {
  const found = searchRouteToGoal(
    model,
    from,
    (state) => model.moves(state).find((move) => isGoal(state, move)),
    limit,
  );
  return typeof found === 'string' ? null : found;
}

const MOVES_PER_STATE = 8;

/**
 * Does the same as {@link searchModelRoute}, where `goalIn` returns the first accepted move of a state.
 * @param limit maximum number of states; the search also ends after {@link MOVES_PER_STATE} times as many moves
 * @param spent exact keys of states from which no such move can be reached; a complete search without a result adds the
 *   states that it visited. Only for a `goalIn` that never accepts a move that it refused before.
 * @param exactKey distinguishes states with equal keys. The search follows only one of them, and is then not complete.
 */
export function searchRouteToGoal<State, Move extends { readonly name: string }>(
  model: FiniteModel<State, Move>,
  from: State,
  goalIn: (state: State) => Move | undefined,
  limit: number,
  spent = new Set<string>(),
  exactKey = model.key,
): ModelRoute<State, Move> | 'not found' | 'limit reached' {
  interface Node {
    readonly state: State;
    readonly before: Node | null;
    readonly move: Move | null;
  }
  const start = exactKey(from);
  if (spent.has(start)) return 'not found';
  const seen = new Map([[model.key(from), start]]);
  let movesLeft = limit * MOVES_PER_STATE;
  let isCut = false;
  let isComplete = true;
  let frontier: Node[] = [{ state: from, before: null, move: null }];
  while (frontier.length > 0) {
    const next: Node[] = [];
    for (const node of frontier) {
      if (movesLeft < 0) return 'limit reached';
      const goal = goalIn(node.state);
      movesLeft -= model.moves(node.state).length;
      if (goal) return unwind({ state: model.next(node.state, goal), before: node, move: goal });
      for (const move of model.moves(node.state)) {
        const state = model.next(node.state, move);
        const [key, exact] = [model.key(state), exactKey(state)];
        if (spent.has(exact)) continue;
        const known = seen.get(key);
        if (known !== undefined) {
          isComplete &&= known === exact;
          continue;
        }
        if (seen.size >= limit) {
          isCut = true;
          continue;
        }
        seen.set(key, exact);
        next.push({ state, before: node, move });
      }
    }
    frontier = next;
  }
  if (isCut) return 'limit reached';
  if (isComplete) for (const exact of seen.values()) spent.add(exact);
  return 'not found';

  function unwind(end: Node): ModelRoute<State, Move> {
    const states: State[] = [];
    const moves: Move[] = [];
    for (let node: Node | null = end; node; node = node.before) {
      states.unshift(node.state);
      if (node.move) moves.unshift(node.move);
    }
    return { states, moves };
  }
}

/** Every state of a model, each with a shortest route to it; null if there are more than `limit`. Pure. */
export function routesToAllStates<State, Move extends { readonly name: string }>(
  model: FiniteModel<State, Move>,
  limit: number,
): readonly ModelRoute<State, Move>[] | null {
  const routes = new Map<string, ModelRoute<State, Move>>([
    [model.key(model.initial), { states: [model.initial], moves: [] }],
  ]);
  for (const { states, moves } of routes.values()) {
    const at = states.at(-1)!;
    for (const move of model.moves(at)) {
      const state = model.next(at, move);
      const key = model.key(state);
      if (routes.has(key)) continue;
      if (routes.size >= limit) return null;
      routes.set(key, { states: [...states, state], moves: [...moves, move] });
    }
  }
  return [...routes.values()];
}
