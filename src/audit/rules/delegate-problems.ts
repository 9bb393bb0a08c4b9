import type { Fields } from '../../base/json.ts';
import { getOwn } from '../../spec/names.ts';
import type { PeripheralSpec } from '../../spec/types.ts';
import { nonNullFields } from './apply-to-audit-state.ts';
import type { RequestOfKind } from './audit-request.ts';
import type { AuditState } from './audit-state.ts';
import {
  addContextProblems,
  addEntryProblems,
  addGateProblem,
  computeEntryContext,
  gatesOnHop,
} from './entry-problems.ts';
import { type JudgedState, toJudgedState } from './judged-state.ts';
import { makeProblemCollector, NEEDS_HISTORY, noVisitProblem, type RuleProblem } from './rule-problem.ts';
import { computeVisitFruit, unknownPeripheralProblem } from './visit-problems.ts';

/** The problems of starting a sub-agent. The present peripheral must name the target, which admits it like a hop. */
export function delegateProblems(state: AuditState, request: RequestOfKind<'delegate'>): readonly RuleProblem[] {
  const { pinned, visit } = state;
  const { to, by } = request;
  const here = visit?.spec;
  if (!here) return [noVisitProblem('a delegation must begin in a visit')];
  if (request.agency) return agencyProblems(state, here, to, request.agency.acts);
  const target = getOwn(pinned.specs.peripherals, to);
  if (!target) return [unknownPeripheralProblem(to)];
  const { found, add } = makeProblemCollector();
  const listed = here.delegates?.map((each) => each.to) ?? [];
  if (!listed.includes(to)) {
    const constraint = `delegates of ${here.id}: ${listed.join(', ') || 'none'}`;
    add('hop-not-allowed', 'delegation', constraint, `a sub-agent was started in ${to}`);
  }
  const judged: JudgedState = { ...toJudgedState(state, by), fruit: computeVisitFruit(state, {}) };
  addEntryProblems(judged, target, add);
  const gates = gatesOnHop(pinned, here.id, to);
  for (const gate of gates) addGateProblem(judged, to, gate, add);
  addContextProblems(target, contextOfSubAgent(state, here, target).missing, add);
  if (gates.some(({ kind }) => kind === 'approval') && !request.approves)
    add('approval-required', 'approval', 'approval: operator', 'the delegation was not approved', NEEDS_HISTORY);
  return found;
}

/** The problems of an agency run. A run with tools (`acts`) also needs `within: own` and a mode that allows `act`. */
function agencyProblems(
  { mode, pinned }: AuditState,
  { id, agencies = [] }: PeripheralSpec,
  to: string,
  acts: boolean,
): readonly RuleProblem[] {
  const { found, add } = makeProblemCollector();
  const named = agencies.find((each) => each.to === to);
  const constraint = `agencies of ${id}: ${agencies.map((each) => `${each.to} (${each.within})`).join(', ') || 'none'}`;
  if (!named || (acts && named.within === 'parent')) {
    const message = `an agent ran in ${to}${acts ? ', with tools' : ''}`;
    add('hop-not-allowed', 'delegation', constraint, message);
  }
  const effects = mode === null ? undefined : pinned.specs.modeGate?.effects[mode];
  if (acts && effects && !effects.includes('act'))
    add('mode-forbids', 'mode', `${mode}: ${effects.join(', ')}`, `an agent with tools ran in ${to}`);
  return found;
}

/** The context of a sub-agent's visit at its start, and the required fields without a value. */
export function contextOfSubAgent(
  state: AuditState,
  here: PeripheralSpec,
  target: PeripheralSpec,
): { readonly context: Fields; readonly missing: readonly string[] } {
  const fruit = computeVisitFruit(state, {});
  const backpack = { ...state.backpack, ...nonNullFields(fruit) };
  return computeEntryContext(
    target,
    { sessionId: state.sessionId, fruits: state.fruits, backpack },
    {},
    { [here.id]: fruit },
  );
}
