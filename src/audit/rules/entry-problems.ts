import { getOrInsert } from '../../base/get-or-insert.ts';
import type { Fields } from '../../base/json.ts';
import { isBlank } from '../../base/text.ts';
import { formatEntrySource, getOwn } from '../../spec/names.ts';
import { SESSION_IDENTITY_FIELDS } from '../../spec/policy/reserved-fields.ts';
import { fieldsReportedByTools } from '../../spec/reported-fields.ts';
import type { EntrySource, GateRule, PeripheralSpec } from '../../spec/types.ts';
import type { AuditedPin, AuditState } from './audit-state.ts';
import { doesConditionHold, hasHadVisit, isAtNaturalClose, type JudgedState, stateMeetsRule } from './judged-state.ts';
import { type AddRuleProblem, NEEDS_HISTORY } from './rule-problem.ts';

/** Adds the problems of entering a peripheral: the mode, the agent, the sources and the conditions of its entry. */
export function addEntryProblems(judged: JudgedState, target: PeripheralSpec, add: AddRuleProblem): void {
  const { state, by, visit } = judged;
  const { id, agents, entry } = target;
  const { mode, agent, pinned } = state;
  const allowed = pinned.specs.modeGate && mode ? pinned.specs.modeGate.peripherals[mode] : null;
  if (allowed && !allowed.includes(id)) {
    const constraint = `${mode}: ${allowed.join(', ') || 'no peripheral'}`;
    add('mode-forbids', 'mode', constraint, `${id} was entered in this mode`);
  }
  if (agents !== null && !agents.includes(agent))
    add('agent-not-allowed', 'agent', `agents: ${agents.join(', ')}`, `${agent} entered ${id}`);
  if (!entry.sources.some((source) => sourceApplies(source, judged))) {
    const from = visit ? `from ${visit.peripheral}` : hasHadVisit(state) ? 'after the visits' : 'at first';
    const constraint = `entry: ${entry.sources.map(formatEntrySource).join(', ')}`;
    const message = `${id} was entered ${from}, by the ${by}`;
    add('entry-not-met', 'entry', constraint, message, NEEDS_HISTORY);
  }
  const onRequest = entry.sources.some(({ kind }) => kind === 'agent-request');
  if (visit && onRequest && by === 'agent' && !isAtNaturalClose(judged)) {
    const message = `${id} was entered with nothing done since the last review`;
    add('entry-not-met', 'entry', 'agent-request is allowed only at a natural close', message, NEEDS_HISTORY);
  }
  for (const name of entry.conditions) {
    if (doesConditionHold(judged, name)) continue;
    const message = `${id} was entered while the condition did not hold`;
    add('condition-failed', 'condition', `entry: ${name}`, message, NEEDS_HISTORY);
  }
}

function sourceApplies(source: EntrySource, judged: JudgedState): boolean {
  const { state, visit, by } = judged;
  if (source.kind === 'default') return !hasHadVisit(state);
  if (source.kind === 'from') return visit?.peripheral === source.peripheral;
  if (source.kind === 'from-any') return visit !== null;
  if (source.kind === 'user-request') return by === 'operator';
  if (source.kind === 'agent-request') return visit !== null && by === 'agent' && isAtNaturalClose(judged);
  source.kind satisfies 'session-close';
  return hasHadVisit(state) && visit === null;
}

const gatesByTarget = new WeakMap<object, ReadonlyMap<string, readonly { in: string; rule: GateRule }[]>>();

/**
 * The gates on a destination. Each applies to every hop to that destination; the gates of the peripheral `from` come
 * first.
 */
export function gatesOnHop({ specs: { peripherals } }: AuditedPin, from: string, to: string): readonly GateRule[] {
  const byTarget = getOrInsert(gatesByTarget, peripherals, () => {
    const listed = Object.values(peripherals).flatMap(({ id, gates }) =>
      Object.entries(gates).flatMap(([target, rules]) => rules.map((rule) => ({ in: id, rule, target }))),
    );
    return Map.groupBy(listed, ({ target }) => target);
  });
  const gates = byTarget.get(to) ?? [];
  const first = gates.filter((gate) => gate.in === from);
  return [...first, ...gates.filter((gate) => gate.in !== from)].map(({ rule }) => rule);
}

export function addGateProblem(judged: JudgedState, to: string, gate: GateRule, add: AddRuleProblem): void {
  const fail = (message: string) =>
    add('condition-failed', 'gate', `gates: ${to}: ${JSON.stringify(gate)}`, message, NEEDS_HISTORY);
  switch (gate.kind) {
    case 'approval':
      return;
    case 'when':
      if (!stateMeetsRule(judged, gate.cel)) fail('the rule of the gate did not hold');
      return;
    case 'pattern': {
      const status = getOwn(judged.state.patterns, gate.pattern);
      const open = gate.is === 'held' ? status === 'held' : status !== undefined;
      if (!open) fail(status ? `the outcome of the pattern is ${status}` : 'no outcome of the pattern is recorded');
      return;
    }
    default:
      gate satisfies never;
  }
}

/** Removes the session state from the fields that a caller gives to a start, because only tools set it. */
export function removeSessionStateFields({ specs }: AuditedPin, fields: Fields): Fields {
  const { state } = fieldsReportedByTools(specs);
  return Object.fromEntries(Object.entries(fields).filter(([field]) => !Object.hasOwn(state, field)));
}

/**
 * The context of a visit at its start, and the required fields without a value. `fields` are those that the caller
 * gives. `latest` has the fruit of the visit that ends; it replaces an older fruit.
 */
export function computeEntryContext(
  target: PeripheralSpec,
  { sessionId, backpack, fruits }: Pick<AuditState, 'sessionId' | 'backpack' | 'fruits'>,
  fields: Fields,
  latest: AuditState['fruits'] = {},
): { readonly context: Fields; readonly missing: readonly string[] } {
  const others = Object.fromEntries(
    Object.entries(fields).filter(([field]) => !SESSION_IDENTITY_FIELDS.includes(field)),
  );
  const context: Record<string, Fields[string]> = { ...others };
  const missing: string[] = [];
  for (const [field, { source, optional }] of Object.entries(target.context)) {
    const expected =
      source.kind === 'session-log'
        ? { session: sessionId }
        : source.kind === 'fruit'
          ? (getOwn(latest, source.peripheral) ?? getOwn(fruits, source.peripheral))?.[field]
          : field === 'session-id'
            ? sessionId
            : backpack[field];
    const value = others[field] ?? expected ?? null;
    const isGiven = value !== null && (optional || !isBlank(value));
    if (isGiven) context[field] = value;
    else if (!optional) missing.push(field);
  }
  return { context, missing };
}

export const describeContextRule = ({ context }: PeripheralSpec, field: string): string => {
  const source = getOwn(context, field)?.source;
  if (!source) return `context: ${Object.keys(context).join(', ')}`;
  return `context: ${field}: ${source.kind === 'fruit' ? `from-${source.peripheral}` : source.kind}`;
};

export function addContextProblems(target: PeripheralSpec, missing: readonly string[], add: AddRuleProblem): void {
  for (const argument of missing) {
    const message = `${target.id} was entered without ${argument}`;
    const about = { argument, ...NEEDS_HISTORY };
    add('missing-context', 'context', describeContextRule(target, argument), message, about);
  }
}
