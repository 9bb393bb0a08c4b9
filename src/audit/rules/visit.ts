import { isBlank } from '../../base/text.ts';
import { own } from '../../spec/names.ts';
import { IDENTITY_FIELDS } from '../../spec/policy/closed-lists.ts';
import { reportedFields } from '../../spec/reported-fields.ts';
import type { EntrySource, Exit, GateRule, PeripheralSpec } from '../../spec/types.ts';
import { filled } from './apply.ts';
import { type Fields, fits, sameJson, show } from './json.ts';
import { atNaturalClose, conditionHolds, type JudgedState, judgedNow, ruleHolds, wasVisited } from './judged-state.ts';
import { auditedFruit, observation } from './observations.ts';
import { NEEDS_HISTORY, problem, type RuleProblem } from './problem.ts';
import type { RequestOf } from './request.ts';
import type { AuditedVisit, AuditState, Pinned } from './state.ts';

/** A start from outside: no visit is under way, and the target's entry and context allow it. */
export function startProblems(state: AuditState, request: RequestOf<'start'>): readonly RuleProblem[] {
  const { peripheral, by, context = {} } = request;
  const { visit, pinned } = state;
  if (visit) {
    const message = `${peripheral} was started in ${visit.peripheral}`;
    return [problem('already-active', 'lifecycle', 'one visit at a time', message)];
  }
  const target = own(pinned.specs.peripherals, peripheral);
  if (!target) return [noPeripheral(peripheral)];
  const found: RuleProblem[] = [];
  addEntryProblems(judgedNow(state, by), target, found);
  addContextProblems(target, contextFor(target, state, withoutState(pinned, context)).missing, found);
  return found;
}

export const noPeripheral = (id: string): RuleProblem =>
  problem('hop-not-allowed', 'edge', 'a peripheral of the spec', `there is no peripheral ${id}`);

/** A stop ends a visit with a fruit of the spec's shape. Nothing else can forbid it. */
export function stopProblems({ visit }: AuditState, { fruit = {} }: RequestOf<'stop'>): readonly RuleProblem[] {
  if (!visit?.spec)
    return [problem('no-peripheral', 'lifecycle', 'a stop ends a visit', 'the session was outside of any peripheral')];
  const found: RuleProblem[] = [];
  addFruitProblems(visit.spec, visit, fruit, found);
  return found;
}

/** An observed field may only repeat what was observed; a stated field has the spec's type. */
function addFruitProblems(
  { fruit: rules }: PeripheralSpec,
  { observed }: AuditedVisit,
  fruit: Fields,
  found: RuleProblem[],
): void {
  const wrong = (argument: string, constraint: string, message: string, about = {}) =>
    found.push(problem('invalid-fruit', 'fruit', constraint, message, { argument, ...about }));
  for (const [field, rule] of Object.entries(rules)) {
    const value = fruit[field];
    const constraint = `${field}: ${rule.kind} ${typeof rule.type === 'string' ? rule.type : rule.type.join(' | ')}`;
    if (rule.kind === 'observed') {
      if (value === undefined) continue;
      const seen = observation(observed, rule.from);
      const message = `${field} is ${show(value)}, but the evidence shows ${show(seen)}`;
      if (!sameJson(seen, value)) wrong(field, constraint, message, NEEDS_HISTORY);
    } else if (value === undefined) {
      if (!rule.optional) wrong(field, constraint, `the fruit lacks ${field}`);
    } else if (!fits(value, rule.type)) {
      wrong(field, constraint, `${field} is ${show(value)}, which is not of this type`);
    }
  }
  const names = Object.keys(rules).join(', ') || 'none';
  for (const field of Object.keys(fruit))
    if (!Object.hasOwn(rules, field))
      wrong(field, `fruit: ${names}`, `the fruit holds ${field}, which the spec does not have`);
}

/** The fruit that the visit would yield if it ended now, with the agent's part. */
export const fruitNow = ({ visit }: AuditState, stated: Fields): Fields =>
  visit?.spec ? { ...stated, ...auditedFruit(visit.spec, visit.observed) } : stated;

/** A hop: the exit opens the target and holds, the target admits, gates, context and approval are there. */
export function hopProblems(state: AuditState, request: RequestOf<'hop'>): readonly RuleProblem[] {
  const { pinned, leaving } = state;
  const { to, by, fruit = {} } = request;
  const visit = leaving?.visit ?? state.visit;
  const source = visit?.spec;
  if (!visit || !source)
    return [problem('no-peripheral', 'lifecycle', 'a hop leaves a visit', 'the session was outside of any peripheral')];
  const target = own(pinned.specs.peripherals, to);
  if (!target) return [noPeripheral(to)];
  const found: RuleProblem[] = [];
  // The fruit of an ended visit was judged at its stop.
  if (!leaving) addFruitProblems(source, visit, fruit, found);
  const left = leaving ?? { ...judgedNow(state, by), fruit: fruitNow(state, fruit) };
  const judged: JudgedState = { ...left, state, by, visit };
  const exit = addEdgeProblems(judged, source, target, request, found);
  if (exit) addExitProblems(judged, exit, request, found);
  addEntryProblems(judged, target, found);
  const gates = gatesOn(pinned, source.id, to);
  for (const gate of gates) addGateProblem(judged, to, gate, found);
  const backpack = { ...judged.backpack, ...filled(judged.fruit) };
  const carried = { sessionId: state.sessionId, fruits: state.fruits, backpack };
  addContextProblems(target, contextFor(target, carried, {}, { [source.id]: judged.fruit }).missing, found);
  if (gates.some(({ kind }) => kind === 'approval') && !request.approves)
    found.push(problem('approval-required', 'approval', 'approval: operator', 'it was not approved', NEEDS_HISTORY));
  return found;
}

/**
 * The exit must open the target, and the target's entry must admit hops from the source at all. @returns the exit that
 * is taken, if known
 */
function addEdgeProblems(
  judged: JudgedState,
  source: PeripheralSpec,
  target: PeripheralSpec,
  request: RequestOf<'hop'>,
  found: RuleProblem[],
): Exit | undefined {
  const { exit: name } = request;
  const admits = target.entry.sources.some(
    ({ kind, ...from }) =>
      kind === 'from-any' ||
      kind === 'user-request' ||
      kind === 'agent-request' ||
      ('peripheral' in from && from.peripheral === source.id),
  );
  const opening = source.exits.filter(({ opens }) => admits && opens.some(({ to }) => to === target.id));
  const exit =
    name === undefined ? impliedExit(judged, opening, request) : source.exits.find((one) => one.name === name);
  const refused = (code: RuleProblem['code'], message: string) => {
    const opened = source.exits.map((one) => `${one.name} → ${one.opens.map(({ to }) => to).join(', ')}`).join('; ');
    found.push(problem(code, 'edge', `exits of ${source.id}: ${opened || 'none'}`, message));
  };
  if (opening.length === 0) refused('hop-not-allowed', `a hop to ${target.id} by ${name ?? 'any exit'}`);
  else if (name === undefined && !exit) refused('exit-not-met', `a hop to ${target.id} names one exit`);
  else if (!exit) refused('exit-not-met', `a hop to ${target.id} by ${name}, which is not an exit`);
  else if (!opening.includes(exit)) refused('hop-not-allowed', `a hop to ${target.id} by ${name}`);
  return exit;
}

/**
 * The exit that a hop takes if it names none: of the exits whose requirements hold now (of all, if none do), the one
 * that the reason names, then `user-request` for the operator, then `hop-<target>`, then the only one.
 */
function impliedExit(judged: JudgedState, opening: readonly Exit[], request: RequestOf<'hop'>): Exit | undefined {
  const open = opening.filter((exit) => {
    const problems: RuleProblem[] = [];
    addExitProblems(judged, exit, { ...request, reason: 'any' }, problems);
    return problems.length === 0;
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
  { reason, by, to }: RequestOf<'hop'>,
  found: RuleProblem[],
): void {
  const { name, implies, opens } = exit;
  const unmet = (constraint: string, message: string, about = {}) =>
    found.push(problem('exit-not-met', 'exit', constraint, message, about));
  if (!implies && reason.trim() === '') unmet(`${name} is stated, with a reason`, 'there is no reason');
  if (implies && judged.fruit[implies.field] !== implies.value)
    unmet(`${name}: ${implies.field} is ${implies.value}`, `${implies.field} is ${show(judged.fruit[implies.field])}`);
  if (name === 'user-request' && by !== 'operator') unmet('user-request: by the operator', `it was taken by the ${by}`);
  const when = opens.find((open) => open.to === to)?.when ?? null;
  if (when !== null && !ruleHolds(judged, when))
    unmet(`${name} → ${to} when ${when}`, 'the rule did not hold', NEEDS_HISTORY);
}

/** Judges the mode and the peripheral's entry: the requester, the source and the conditions. */
export function addEntryProblems(judged: JudgedState, target: PeripheralSpec, found: RuleProblem[]): void {
  const { state, by, visit } = judged;
  const { id, agents, entry } = target;
  const { mode, agent, pinned } = state;
  const allowed = pinned.specs.modeGate && mode ? pinned.specs.modeGate.peripherals[mode] : null;
  if (allowed && !allowed.includes(id)) {
    const constraint = `${mode}: ${allowed.join(', ') || 'no peripheral'}`;
    found.push(problem('mode-forbids', 'mode', constraint, `${id} was entered in this mode`));
  }
  if (agents !== null && !agents.includes(agent))
    found.push(problem('agent-not-allowed', 'agent', `agents: ${agents.join(', ')}`, `${agent} entered ${id}`));
  if (!entry.sources.some((source) => sourceApplies(source, judged))) {
    const from = visit ? `from ${visit.peripheral}` : wasVisited(state) ? 'after the visits' : 'at first';
    const constraint = `entry: ${entry.sources.map(entrySourceName).join(', ')}`;
    const message = `${id} was entered ${from}, by the ${by}`;
    found.push(problem('entry-not-met', 'entry', constraint, message, NEEDS_HISTORY));
  }
  const onRequest = entry.sources.some(({ kind }) => kind === 'agent-request');
  if (visit && onRequest && by === 'agent' && !atNaturalClose(judged)) {
    const message = `${id} was entered with nothing done since the last review`;
    found.push(problem('entry-not-met', 'entry', 'agent-request: at a natural close', message, NEEDS_HISTORY));
  }
  for (const name of entry.conditions) {
    if (conditionHolds(judged, name)) continue;
    const message = `${id} was entered while it did not hold`;
    found.push(problem('condition-failed', 'condition', `entry: ${name}`, message, NEEDS_HISTORY));
  }
}

function sourceApplies(source: EntrySource, judged: JudgedState): boolean {
  const { state, visit, by } = judged;
  switch (source.kind) {
    case 'default':
      return !wasVisited(state);
    case 'from':
      return visit?.peripheral === source.peripheral;
    case 'from-any':
      return visit !== null;
    case 'user-request':
      return by === 'operator';
    case 'agent-request':
      return visit !== null && by === 'agent' && atNaturalClose(judged);
    case 'session-close':
      return wasVisited(state) && visit === null;
    default:
      return source satisfies never;
  }
}

/** An entry source, written as in a spec. */
export const entrySourceName = (source: EntrySource): string =>
  source.kind === 'from' ? `from-${source.peripheral}` : source.kind;

const gatesByTarget = new WeakMap<object, ReadonlyMap<string, readonly { in: string; rule: GateRule }[]>>();

/** A gate on a destination binds every hop to it. Those of the peripheral that is left come first. */
export function gatesOn({ specs: { peripherals } }: Pinned, from: string, to: string): readonly GateRule[] {
  let all = gatesByTarget.get(peripherals);
  if (!all) {
    const listed = Object.values(peripherals).flatMap(({ id, gates }) =>
      Object.entries(gates).flatMap(([target, rules]) => rules.map((rule) => ({ in: id, rule, target }))),
    );
    all = Map.groupBy(listed, ({ target }) => target);
    gatesByTarget.set(peripherals, all);
  }
  const gates = all.get(to) ?? [];
  const first = gates.filter((gate) => gate.in === from);
  return [...first, ...gates.filter((gate) => gate.in !== from)].map(({ rule }) => rule);
}

export function addGateProblem(judged: JudgedState, to: string, gate: GateRule, found: RuleProblem[]): void {
  const shut = (message: string) =>
    found.push(problem('condition-failed', 'gate', `gates: ${to}: ${JSON.stringify(gate)}`, message, NEEDS_HISTORY));
  switch (gate.kind) {
    case 'approval':
      return;
    case 'when':
      if (!ruleHolds(judged, gate.cel)) shut('the rule did not hold');
      return;
    case 'pattern': {
      const status = own(judged.state.patterns, gate.pattern);
      const open = gate.is === 'held' ? status === 'held' : status !== undefined;
      if (!open) shut(`the outcome of the pattern is ${status ?? 'nothing'}`);
      return;
    }
    default:
      gate satisfies never;
  }
}

/** The fields that a caller of start may set: session state comes from tools only. */
export function withoutState({ specs }: Pinned, given: Fields): Fields {
  const { state } = reportedFields(specs);
  return Object.fromEntries(Object.entries(given).filter(([field]) => !Object.hasOwn(state, field)));
}

/**
 * The context that a visit begins with, and the fields that nothing fills. `given` is the caller's part; `latest` has
 * the fruit of the visit that is left, which takes the place of older ones.
 */
export function contextFor(
  target: PeripheralSpec,
  { sessionId, backpack, fruits }: Pick<AuditState, 'sessionId' | 'backpack' | 'fruits'>,
  given: Fields,
  latest: AuditState['fruits'] = {},
): { readonly context: Fields; readonly missing: readonly string[] } {
  const others = Object.fromEntries(Object.entries(given).filter(([field]) => !IDENTITY_FIELDS.includes(field)));
  const context: Record<string, Fields[string]> = { ...others };
  const missing: string[] = [];
  for (const [field, { source, optional }] of Object.entries(target.context)) {
    const due =
      source.kind === 'session-log'
        ? { session: sessionId }
        : source.kind === 'fruit'
          ? (own(latest, source.peripheral) ?? own(fruits, source.peripheral))?.[field]
          : field === 'session-id'
            ? sessionId
            : backpack[field];
    const value = others[field] ?? due ?? null;
    const isGiven = value !== null && (optional || !isBlank(value));
    if (isGiven) context[field] = value;
    else if (!optional) missing.push(field);
  }
  return { context, missing };
}

/** A rule of a peripheral's context in words. */
export const contextRule = ({ context }: PeripheralSpec, field: string): string => {
  const source = own(context, field)?.source;
  if (!source) return `context: ${Object.keys(context).join(', ')}`;
  return `context: ${field}: ${source.kind === 'fruit' ? `from-${source.peripheral}` : source.kind}`;
};

export function addContextProblems(target: PeripheralSpec, missing: readonly string[], found: RuleProblem[]): void {
  for (const argument of missing) {
    const message = `${target.id} was entered without ${argument}`;
    const about = { argument, ...NEEDS_HISTORY };
    found.push(problem('missing-context', 'context', contextRule(target, argument), message, about));
  }
}
