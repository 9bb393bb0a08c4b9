import type { AuditedPin, AuditState } from '../../audit/rules/audit-state.ts';
import { findFirstRuleProblem } from '../../audit/rules/find-rule-problems.ts';
import type { ModelRoute } from '../model/shortest-routes.ts';
import { envelopeKey } from './envelope-key.ts';
import type { Move } from './move.ts';
import { movesToTryIn } from './moves.ts';
import { describeModelRoute, type PlannedCase, peripheralNameOf } from './planned-case.ts';

/** Plans one case for every rule that refuses a move: the shortest route to a state in which the rule refuses it. */
export function planRefusalCases(
  pinned: AuditedPin,
  prefix: readonly Move[],
  states: readonly ModelRoute<AuditState, Move>[],
): PlannedCase[] {
  const found = new Map<string, PlannedCase>();
  const provoked = new Set<string>();
  for (const route of states.toSorted((a, b) => a.moves.length - b.moves.length)) {
    const state = route.states.at(-1)!;
    const path = describeModelRoute(route);
    const after = path === '' ? '' : ` (${path})`;
    const where = `${peripheralNameOf(state)}${Object.keys(state.visits).length > 0 ? '' : ' at first'}`;
    if (!found.has(where)) {
      const envelope = state.visit?.spec ? envelopeKey(state.visit.spec) : where;
      const [what, provoke] = provoked.has(envelope)
        ? (['every forbidden hop', 'edges'] as const)
        : (['everything forbidden', 'end'] as const);
      provoked.add(envelope);
      const name = `in ${where}: ${what} is refused${after}`;
      found.set(where, { group: 'refusals', name, moves: [...prefix, ...route.moves], provoke });
    }
    for (const move of movesToTryIn(pinned, state)) {
      const forged = `${peripheralNameOf(state)} ${move.name}: by approvals for something else`;
      if (!found.has(forged) && lacksOnlyApproval(state, move))
        found.set(forged, {
          group: 'refusals',
          name: `${forged}${after}`,
          moves: [...prefix, ...route.moves],
          forges: [move],
        });
      for (const tried of withoutApproval(move)) {
        const problem = findFirstRuleProblem(state, tried.asked);
        if (!problem) continue;
        const key = `${peripheralNameOf(state)} ${tried.name}: ${problem.code}: ${problem.constraint}`;
        if (found.has(key)) continue;
        found.set(key, {
          group: 'refusals',
          name: `${key}${after}`,
          moves: [...prefix, ...route.moves],
          tries: [tried],
        });
      }
    }
  }
  return [...found.values()];
}

export function lacksOnlyApproval(state: AuditState, { asked }: Move): boolean {
  if (!('approves' in asked)) return false;
  return findFirstRuleProblem(state, { ...asked, approves: false })?.code === 'approval-required';
}

const withoutApproval = (move: Move): readonly Move[] =>
  'approves' in move.asked
    ? [move, { ...move, name: `${move.name} without approval`, asked: { ...move.asked, approves: false } }]
    : [move];
