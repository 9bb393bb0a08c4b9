import type { Fields } from '../../base/json.ts';
import { getOwn } from '../../spec/names.ts';
import type { Exit, PeripheralSpec } from '../../spec/types.ts';
import { nonNullFields } from './apply-to-audit-state.ts';
import type { RequestOfKind } from './audit-request.ts';
import type { AuditedVisit, AuditState } from './audit-state.ts';
import { computeObservedFruit, observedValue } from './audited-observations.ts';
import { hasFruitType, isSameJson, shortJson } from './compare-json.ts';
import {
  addContextProblems,
  addEntryProblems,
  addGateProblem,
  computeEntryContext,
  gatesOnHop,
  removeSessionStateFields,
} from './entry-problems.ts';
import { type JudgedState, stateMeetsRule, toJudgedState } from './judged-state.ts';
import {
  type AddRuleProblem,
  makeProblemCollector,
  makeRuleProblem,
  NEEDS_HISTORY,
  noVisitProblem,
  type RuleProblem,
} from './rule-problem.ts';

/** The problems of a start: it must not be within a visit, and the target's entry and context must allow it. */
export function startProblems(state: AuditState, request: RequestOfKind<'start'>): readonly RuleProblem[] {
  const { peripheral, by, context = {} } = request;
  const { visit, pinned } = state;
  if (visit) {
    const message = `${peripheral} was started in ${visit.peripheral}`;
    return [makeRuleProblem('already-active', 'lifecycle', 'one visit at a time', message)];
  }
  const target = getOwn(pinned.specs.peripherals, peripheral);
  if (!target) return [unknownPeripheralProblem(peripheral)];
  const { found, add } = makeProblemCollector();
  addEntryProblems(toJudgedState(state, by), target, add);
  addContextProblems(
    target,
    computeEntryContext(target, state, removeSessionStateFields(pinned, context)).missing,
    add,
  );
  return found;
}

export const unknownPeripheralProblem = (id: string): RuleProblem =>
  makeRuleProblem('hop-not-allowed', 'edge', 'the target must be in the spec set', `there is no peripheral ${id}`);

/** The problems of a stop. Only a missing visit and an invalid fruit can forbid it. */
export function stopProblems({ visit }: AuditState, { fruit = {} }: RequestOfKind<'stop'>): readonly RuleProblem[] {
  if (!visit?.spec) return [noVisitProblem('a stop needs a visit that has not ended')];
  const { found, add } = makeProblemCollector();
  addFruitProblems(visit.spec, visit, fruit, add);
  return found;
}

/** An observed field may only repeat what was observed; a stated field has the spec's type. */
function addFruitProblems(
  { fruit: rules }: PeripheralSpec,
  { observations }: AuditedVisit,
  fruit: Fields,
  add: AddRuleProblem,
): void {
  const wrong = (argument: string, constraint: string, message: string, about = {}) =>
    add('invalid-fruit', 'fruit', constraint, message, { argument, ...about });
  for (const [field, rule] of Object.entries(rules)) {
    const value = fruit[field];
    const constraint = `${field}: ${rule.kind} ${typeof rule.type === 'string' ? rule.type : rule.type.join(' | ')}`;
    if (rule.kind === 'observed') {
      if (value === undefined) continue;
      const seen = observedValue(observations, rule.from);
      const message = `${field} is ${shortJson(value)}, but the evidence shows ${shortJson(seen)}`;
      if (!isSameJson(seen, value)) wrong(field, constraint, message, NEEDS_HISTORY);
    } else if (value === undefined) {
      if (!rule.optional) wrong(field, constraint, `the fruit lacks ${field}`);
    } else if (!hasFruitType(value, rule.type)) {
      wrong(field, constraint, `${field} is ${shortJson(value)}, which is not of this type`);
    }
  }
  const names = Object.keys(rules).join(', ') || 'none';
  for (const field of Object.keys(fruit))
    if (!Object.hasOwn(rules, field))
      wrong(field, `fruit: ${names}`, `the fruit holds ${field}, which the spec does not have`);
}

/** The fruit that the visit would yield if it ended now, with the agent's part. */
export const computeVisitFruit = ({ visit }: AuditState, stated: Fields): Fields =>
  visit?.spec ? { ...stated, ...computeObservedFruit(visit.spec, visit.observations) } : stated;

/** The problems of a hop: the edge, its fruit, the exit's rule, the target's entry, the gates, context and approval. */
export function hopProblems(state: AuditState, request: RequestOfKind<'hop'>): readonly RuleProblem[] {
  const { pinned, leaving } = state;
  const { to, by, fruit = {} } = request;
  const visit = leaving?.visit ?? state.visit;
  const source = visit?.spec;
  if (!visit || !source) return [noVisitProblem('a hop must leave a visit')];
  const target = getOwn(pinned.specs.peripherals, to);
  if (!target) return [unknownPeripheralProblem(to)];
  const { found, add } = makeProblemCollector();
  const left = leaving ?? { ...toJudgedState(state, by), fruit: computeVisitFruit(state, fruit) };
  const judged: JudgedState = { ...left, state, by, visit };
  const exit = addEdgeProblems(judged, source, target, request, add);
  // The fruit of an ended visit was judged at its stop.
  if (!leaving) addFruitProblems(source, visit, fruit, add);
  if (exit === 'ambiguous')
    add('exit-not-met', 'edge', describeExits(source), `the hop to ${to} names no exit, and several exits open it`);
  else if (exit) addExitProblems(judged, exit, request, add);
  addEntryProblems(judged, target, add);
  const gates = gatesOnHop(pinned, source.id, to);
  for (const gate of gates) addGateProblem(judged, to, gate, add);
  const backpack = { ...judged.backpack, ...nonNullFields(judged.fruit) };
  const carried = { sessionId: state.sessionId, fruits: state.fruits, backpack };
  addContextProblems(target, computeEntryContext(target, carried, {}, { [source.id]: judged.fruit }).missing, add);
  if (gates.some(({ kind }) => kind === 'approval') && !request.approves)
    add('approval-required', 'approval', 'approval: operator', 'the hop was not approved', NEEDS_HISTORY);
  return found;
}

/**
 * Checks that the exit opens the target, and that the target's entry admits hops from the source.
 * @returns the exit of the hop; undefined if there is none; `ambiguous` if the request does not name one of several
 */
function addEdgeProblems(
  judged: JudgedState,
  source: PeripheralSpec,
  target: PeripheralSpec,
  request: RequestOfKind<'hop'>,
  add: AddRuleProblem,
): Exit | 'ambiguous' | undefined {
  const { exit: name } = request;
  const admits = target.entry.sources.some(
    ({ kind, ...from }) =>
      kind === 'from-any' ||
      kind === 'user-request' ||
      kind === 'agent-request' ||
      ('peripheral' in from && from.peripheral === source.id),
  );
  const isOpening = ({ opens }: Exit): boolean => admits && opens.some(({ to }) => to === target.id);
  const named = source.exits.find((one) => one.name === name);
  if (named && isOpening(named)) return named;
  const opening = source.exits.filter(isOpening);
  if (name === undefined && opening.length > 0) return impliedExit(judged, opening, request) ?? 'ambiguous';
  const refused = (code: RuleProblem['code'], message: string) => add(code, 'edge', describeExits(source), message);
  if (opening.length === 0 || named) refused('hop-not-allowed', `a hop to ${target.id} by ${name ?? 'any exit'}`);
  else refused('exit-not-met', `the hop to ${target.id} names ${name}, which is not an exit`);
  return named;
}

function describeExits({ id, exits }: PeripheralSpec): string {
  const opened = exits.map(({ name, opens }) => `${name} → ${opens.map(({ to }) => to).join(', ')}`).join('; ');
  return `exits of ${id}: ${opened || 'none'}`;
}

/**
 * The exit that a hop takes if it names none. Candidates are the exits whose requirements hold, or all if none do. The
 * first that exists: the exit that the reason names; `user-request` for the operator; `hop-<target>`; the only exit.
 */
function impliedExit(judged: JudgedState, opening: readonly Exit[], request: RequestOfKind<'hop'>): Exit | undefined {
  const open = opening.filter((exit) => {
    const { found, add } = makeProblemCollector();
    addExitProblems(judged, exit, { ...request, reason: 'any' }, add);
    return found.length === 0;
  });
  const left = open.length > 0 ? open : opening;
  const isIn = (name: string, text: string) =>
    new RegExp(`(?<![a-z0-9])${name.split('-').join('[^a-z0-9]+')}(?![a-z0-9])`).test(text.toLowerCase());
  const named = left.filter(({ name }) => isIn(name, request.reason));
  const longest = named.filter(({ name }) => named.every((other) => isIn(other.name, name)));
  if (longest.length === 1) return longest[0];
  const preferred = [...(request.by === 'operator' ? ['user-request'] : []), `hop-${request.to}`];
  const [first] = preferred.flatMap((name) => left.find((exit) => exit.name === name) ?? []);
  return first ?? (left.length === 1 ? left[0] : undefined);
}

function addExitProblems(
  judged: JudgedState,
  exit: Exit,
  { reason, by, to }: RequestOfKind<'hop'>,
  add: AddRuleProblem,
): void {
  const { name, implies, opens } = exit;
  const unmet = (constraint: string, message: string, about = {}) =>
    add('exit-not-met', 'exit', constraint, message, about);
  if (!implies && reason.trim() === '') unmet(`${name} needs a reason`, 'the hop has no reason');
  if (implies && judged.fruit[implies.field] !== implies.value)
    unmet(
      `${name}: ${implies.field} is ${implies.value}`,
      `${implies.field} is ${shortJson(judged.fruit[implies.field])}`,
    );
  if (name === 'user-request' && by !== 'operator')
    unmet('user-request: by the operator', `the exit was taken by the ${by}`);
  const when = opens.find((open) => open.to === to)?.when ?? null;
  if (when !== null && !stateMeetsRule(judged, when))
    unmet(`${name} → ${to} when ${when}`, 'the rule of the exit did not hold', NEEDS_HISTORY);
}
