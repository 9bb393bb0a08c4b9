import type { AuditedPin, AuditState } from '../../audit/rules/audit-state.ts';
import { getOrInsert } from '../../base/get-or-insert.ts';
import type { Move } from '../plan/move.ts';
import { movesToTryIn } from '../plan/moves.ts';
import { itemsCoveredByMove } from '../plan/planned-case.ts';
import { isMoveAllowed, predictStateAfterMove } from '../plan/predict-state.ts';
import type { FiniteModel } from './shortest-routes.ts';
import { makeStateKeyFunction } from './state-key.ts';

export interface HopModel extends FiniteModel<AuditState, Move> {
  /** A coarser key than `key`: two states with the same coarse key may still have different moves. */
  readonly roughKey: (state: AuditState) => string;
}

/** The model of a session's moves, with or without its changes of mode. */
export function makeHopModel(pinned: AuditedPin, initial: AuditState, withModes: boolean): HopModel {
  const allowed = new WeakMap<AuditState, readonly Move[]>();
  return {
    initial,
    key: makeStateKeyFunction(pinned),
    roughKey: makeStateKeyFunction(pinned, true),
    next: (state, move) => predictStateAfterMove(pinned, state, move),
    moves: (state) =>
      getOrInsert(allowed, state, () =>
        movesToTryIn(pinned, state).filter(
          (move) => (withModes || move.asked.kind !== 'mode') && (move.refused || isMoveAllowed(state, move)),
        ),
      ),
  };
}

export function makeModeModel(pinned: AuditedPin, initial: AuditState): FiniteModel<AuditState, Move> {
  return {
    initial,
    key: ({ mode }) => String(mode),
    next: (state, move) => predictStateAfterMove(pinned, state, move),
    moves: (state) =>
      movesToTryIn(pinned, state).filter((move) => move.asked.kind === 'mode' && isMoveAllowed(state, move)),
  };
}

/** A model without the moves that cover an excluded item. */
export const excludeItems = <Model extends FiniteModel<AuditState, Move>>(
  model: Model,
  excluded: ReadonlySet<string>,
): Model => ({
  ...model,
  moves: (state) =>
    model
      .moves(state)
      .filter((move) => move.refused || !itemsCoveredByMove(state, move).some((item) => excluded.has(item))),
});
