import type { AuditedPin, AuditState } from '../../audit/rules/audit-state.ts';
import { findFirstRuleProblem } from '../../audit/rules/find-rule-problems.ts';
import type { FiniteModel, ModelRoute } from '../model/shortest-routes.ts';
import { namedGatesOf, nameOfShutGate } from './coverage.ts';
import type { Move } from './move.ts';
import { movesToTryIn } from './moves.ts';
import { type PlannedCase, peripheralNameOf } from './planned-case.ts';
import { isMoveAllowed } from './predict-state.ts';

type Model = FiniteModel<AuditState, Move>;
type Route = ModelRoute<AuditState, Move>;

/** Maximum number of moves between the varied step of a route and the hop. */
const VARIED_MOVES = 20;
/** Maximum number of moves that are predicted for varied routes. */
const MAX_VARIED = 40_000;

/** The different states along walks, each with the moves from the beginning of its walk. */
export function routesAlongWalks(model: Model, prefix: readonly Move[], walks: readonly PlannedCase[]): Route[] {
  const routes = new Map<string, Route>([[model.key(model.initial), { states: [model.initial], moves: [] }]]);
  for (const walk of walks) {
    const moves = walk.moves.slice(prefix.length);
    const states = [model.initial];
    for (const [index, move] of moves.entries()) {
      const state = model.next(states.at(-1)!, move);
      states.push(state);
      const known = routes.get(model.key(state));
      if (!known || known.moves.length > index + 1)
        routes.set(model.key(state), { states: [...states], moves: moves.slice(0, index + 1) });
    }
  }
  return [...routes.values()];
}

/**
 * Routes to states in which a rule of an edge is the first to refuse its hop. The walks pass only states in which the
 * rules of the taken edges hold, so one step before the hop is added, or the report of a step is replaced by another
 * report.
 */
export function routesToShutGates(pinned: AuditedPin, model: Model, routes: readonly Route[]): Route[] {
  const open = new Map(namedGatesOf(pinned.specs).map(({ name, edge }) => [name, edge]));
  /** Removes the rules that refuse a hop in a state. Returns true if there are some. */
  const shut = (state: AuditState): boolean => {
    const before = open.size;
    for (const { asked } of movesToTryIn(pinned, state))
      if (asked.kind === 'hop') {
        const problem = findFirstRuleProblem(state, asked);
        if (problem) open.delete(nameOfShutGate(peripheralNameOf(state), asked, problem.constraint));
      }
    return open.size < before;
  };
  for (const { states } of routes) shut(states.at(-1)!);
  const found: Route[] = [];
  let left = MAX_VARIED;
  for (const route of routes.toSorted((a, b) => a.moves.length - b.moves.length)) {
    const last = route.moves.at(-1)?.asked;
    if (last?.kind !== 'hop') continue;
    const edge = `edge ${peripheralNameOf(route.states.at(-2)!)} ${last.exit} ${last.to}`;
    for (const varied of variationsOf(route)) {
      if (left <= 0 || ![...open.values()].includes(edge)) break;
      const followed = follow(varied);
      if (followed && shut(followed.states.at(-1)!)) found.push(followed);
    }
  }
  return found;

  /** The routes to the state before the last hop that have one more step, or another report of a step. */
  function* variationsOf({ states, moves }: Route): Iterable<{ from: Route; moves: readonly Move[] }> {
    const end = moves.length - 1;
    for (let at = end; at >= Math.max(0, end - VARIED_MOVES); at -= 1) {
      const from = { states: states.slice(0, at + 1), moves: moves.slice(0, at) };
      for (const step of model.moves(states[at]!)) {
        if (step.asked.kind !== 'step') continue;
        yield { from, moves: [step, ...moves.slice(at, end)] };
        if (moves[at]!.asked.kind === 'step' && at < end) yield { from, moves: [step, ...moves.slice(at + 1, end)] };
      }
    }
  }

  function follow({ from, moves }: { readonly from: Route; readonly moves: readonly Move[] }): Route | null {
    const states = [...from.states];
    for (const move of moves) {
      left -= 1;
      if (!move.refused && !isMoveAllowed(states.at(-1)!, move)) return null;
      states.push(model.next(states.at(-1)!, move));
    }
    return { states, moves: [...from.moves, ...moves] };
  }
}
