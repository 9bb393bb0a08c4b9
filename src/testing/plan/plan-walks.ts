import type { AuditState } from '../../audit/rules/state.ts';
import type { Model } from '../model/model.ts';
import type { Move } from './moves.ts';
import { coveredBy, type PlannedCase } from './planned-case.ts';
import { searchRoute } from './search.ts';

/** The number of hops in one walk; a longer session adds no coverage. */
const WALK = 60;

/** Long walks that take every edge with few steps, for spec sets where shortest routes to each would be too many. */
export function walkCases(
  model: Model<AuditState, Move>,
  prefix: readonly Move[],
): { cases: PlannedCase[]; reachable: Set<string> } {
  const covered = new Set<string>();
  const cases: PlannedCase[] = [];
  const isNew = (state: AuditState, move: Move) => coveredBy(state, move).some((item) => !covered.has(item));
  let moves: Move[] = [];
  let at = model.initial;
  const finish = () => {
    if (moves.length > 0)
      cases.push({
        group: 'walks',
        name: `walk ${cases.length + 1}: ${moves.length} moves`,
        moves: [...prefix, ...moves],
        provoke: 'all',
      });
    moves = [];
    at = model.initial;
  };
  for (;;) {
    if (moves.length >= WALK) finish();
    const route = searchRoute(model, at, isNew);
    if (!route && moves.length === 0) break;
    if (!route) {
      finish();
      continue;
    }
    route.moves.forEach((move, index) => {
      for (const item of coveredBy(route.states[index]!, move)) covered.add(item);
    });
    moves.push(...route.moves);
    at = route.states.at(-1)!;
  }
  finish();
  return { cases, reachable: covered };
}
