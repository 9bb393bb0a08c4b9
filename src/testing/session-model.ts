import type { Pinned } from '../audit/ledger.ts';
import type { Standing } from '../audit/standing.ts';
import { imagine, isLawful } from './imagine.ts';
import type { Model } from './model.ts';
import { type Move, movesFrom } from './moves.ts';
import { keyMaker } from './same-standing.ts';

/** The model of sessions in the mode that allows the most: hops and starts with the facts that they need. */
export function hopModel(pinned: Pinned, initial: Standing, withModes: boolean): Model<Standing, Move> {
  const lawful = new WeakMap<Standing, readonly Move[]>();
  return {
    initial,
    key: keyMaker(pinned),
    next: (standing, move) => imagine(pinned, standing, move),
    moves: (standing) => {
      const known = lawful.get(standing);
      if (known) return known;
      const moves = movesFrom(pinned, standing).filter(
        (move) => (withModes || move.asked.kind !== 'mode') && (move.refused || isLawful(pinned, standing, move)),
      );
      lawful.set(standing, moves);
      return moves;
    },
  };
}

/** The model of the mode gate alone. */
export function modeModel(pinned: Pinned, initial: Standing): Model<Standing, Move> {
  return {
    initial,
    key: ({ mode }) => String(mode),
    next: (standing, move) => imagine(pinned, standing, move),
    moves: (standing) =>
      movesFrom(pinned, standing).filter((move) => move.asked.kind === 'mode' && isLawful(pinned, standing, move)),
  };
}
