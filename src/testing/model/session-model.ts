import type { AuditedPin, AuditState } from '../../audit/rules/audit-state.ts';
import { getOrInsert } from '../../base/get-or-insert.ts';
import { type Move, movesFrom } from '../plan/moves.ts';
import { isMoveAllowed, predictState } from '../plan/predict-state.ts';
import type { FiniteModel } from './shortest-routes.ts';
import { stateKeyMaker } from './state-key.ts';

/** The model of a session's moves, with or without its changes of mode. */
export function hopModel(pinned: AuditedPin, initial: AuditState, withModes: boolean): FiniteModel<AuditState, Move> {
  const allowed = new WeakMap<AuditState, readonly Move[]>();
  return {
    initial,
    key: stateKeyMaker(pinned),
    next: (state, move) => predictState(pinned, state, move),
    moves: (state) =>
      getOrInsert(allowed, state, () =>
        movesFrom(pinned, state).filter(
          (move) => (withModes || move.asked.kind !== 'mode') && (move.refused || isMoveAllowed(state, move)),
        ),
      ),
  };
}

export function modeModel(pinned: AuditedPin, initial: AuditState): FiniteModel<AuditState, Move> {
  return {
    initial,
    key: ({ mode }) => String(mode),
    next: (state, move) => predictState(pinned, state, move),
    moves: (state) =>
      movesFrom(pinned, state).filter((move) => move.asked.kind === 'mode' && isMoveAllowed(state, move)),
  };
}
