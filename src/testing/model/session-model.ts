import type { AuditedPin, AuditState } from '../../audit/rules/audit-state.ts';
import { getOrInsert } from '../../base/get-or-insert.ts';
import { type Move, movesFrom } from '../plan/moves.ts';
import { isLawful, predict } from '../plan/predict.ts';
import type { Model } from './shortest-routes.ts';
import { stateKeyMaker } from './state-key.ts';

/** The model of sessions in the mode that allows the most: hops, starts, and the steps that they need. */
export function hopModel(pinned: AuditedPin, initial: AuditState, withModes: boolean): Model<AuditState, Move> {
  const allowed = new WeakMap<AuditState, readonly Move[]>();
  return {
    initial,
    key: stateKeyMaker(pinned),
    next: (state, move) => predict(pinned, state, move),
    moves: (state) => {
      return getOrInsert(allowed, state, () =>
        movesFrom(pinned, state).filter(
          (move) => (withModes || move.asked.kind !== 'mode') && (move.refused || isLawful(state, move)),
        ),
      );
    },
  };
}

export function modeModel(pinned: AuditedPin, initial: AuditState): Model<AuditState, Move> {
  return {
    initial,
    key: ({ mode }) => String(mode),
    next: (state, move) => predict(pinned, state, move),
    moves: (state) => movesFrom(pinned, state).filter((move) => move.asked.kind === 'mode' && isLawful(state, move)),
  };
}
