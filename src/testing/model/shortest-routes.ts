import { TestModel } from '@xstate/test';
import { type EventObject, fromTransition } from 'xstate';
import { getOrInsert } from '../../base/get-or-insert.ts';

/** A route through a model: its moves, in order, and the states they lead to. */
export interface ModelRoute<State, Move> {
  readonly moves: readonly Move[];
  /** The state before each move, and the state after the last move. */
  readonly states: readonly State[];
}

/** A finite model: its initial state, the moves of a state, and the state after a move. All pure. */
export interface FiniteModel<State, Move> {
  readonly initial: State;
  readonly moves: (state: State) => readonly (Move & { readonly name: string })[];
  readonly next: (state: State, move: Move) => State;
  /** Equal keys mean the same state. */
  readonly key: (state: State) => string;
}

/**
 * The shortest route to every transition of a model, as `@xstate/test` enumerates them. Only for small models, because
 * the cost grows with the number of transitions times the length of the routes.
 */
export function shortestRoutes<State, Move extends { readonly name: string }>(
  model: FiniteModel<State, Move>,
): readonly ModelRoute<State, Move>[] {
  type Event = EventObject & { readonly move: Move };
  const logic = fromTransition(({ state }: { state: State }, { move }: Event) => ({ state: model.next(state, move) }), {
    state: model.initial,
  });
  type Snapshot = { readonly context: { readonly state: State } };
  const keys = new WeakMap<object, string>();
  const keyOf = ({ context }: Snapshot): string => getOrInsert(keys, context, () => model.key(context.state));
  const test = new TestModel(logic, {
    events: (snapshot: { context: { state: State } }) =>
      model.moves(snapshot.context.state).map((move) => ({ type: move.name, move })),
    // The library finds paths to states. A transition is therefore a state here, so that each one gets a shortest
    // route.
    serializeState: (snapshot: Snapshot, event?: Event, before?: Snapshot) =>
      `${keyOf(snapshot)}|${before ? `${keyOf(before)} ${event?.type}` : ''}`,
    serializeEvent: (event: Event) => event.type,
  });
  const paths = test.getShortestPaths() as readonly { readonly steps: readonly { event: Event }[] }[];
  return paths.map(({ steps }) => {
    const moves = steps.flatMap(({ event }) => (event.move === undefined ? [] : [event.move]));
    const states = [model.initial];
    for (const move of moves) states.push(model.next(states.at(-1)!, move));
    return { moves, states };
  });
}
