import { own } from '../spec/names.ts';
import { IDENTITY_FIELDS } from '../spec/policy/closed-lists.ts';
import {
  type EntrySource,
  type Exit,
  type GateRule,
  type Json,
  type PeripheralSpec,
  type Principal,
  TESTS_PASSED,
} from '../spec/types.ts';
import { type Asked, type Expected, LAWFUL, refused } from './asked.ts';
import { type Fields, fits, sameJson } from './json.ts';
import type { Pinned } from './ledger.ts';
import { celHolds } from './rules-in-cel.ts';
import { observedNow, type Standing, testsOf } from './standing.ts';

// What a session has to answer to a start, a hop and a stop: exits, entries, gates, context and fruit.

/** Whoever asks, and what the CEL rules and the entries see of the moment. */
interface Moment {
  readonly pinned: Pinned;
  readonly standing: Standing;
  readonly by: Principal;
  /** The fruit of the visit being left. */
  readonly fruit: Fields;
}

function ruleHolds({ standing, fruit }: Moment, cel: string): boolean {
  const { visit } = standing;
  const peripheral = visit?.peripheral ?? null;
  return celHolds(cel, {
    fruit,
    session: {
      agent: standing.agent,
      steps: standing.steps,
      visits: Object.values(standing.visits).reduce((sum, count) => sum + count, 0),
      denials: standing.denials,
      mode: standing.mode,
      peripheral,
    },
    visit: { steps: visit?.steps ?? 0, denials: visit?.denials ?? 0, peripheral },
    tests: { ...testsOf(standing) },
    backpack: standing.backpack,
    visits: { ...standing.visits },
  });
}

function conditionHolds(moment: Moment, name: string): boolean {
  if (name === TESTS_PASSED) return testsOf(moment.standing).passed;
  const rule = own(moment.pinned.specs.conditions, name);
  return rule !== undefined && ruleHolds(moment, rule);
}

const atNaturalClose = ({ successes, pending }: Standing): boolean => successes > 0 && !pending;

function sourceApplies(source: EntrySource, { standing, by }: Moment): boolean {
  const visited = Object.keys(standing.visits).length > 0;
  const { visit } = standing;
  switch (source.kind) {
    case 'default':
      return !visited;
    case 'from':
      return visit?.peripheral === source.peripheral;
    case 'from-any':
      return visit !== null;
    case 'user-request':
      return by === 'operator';
    case 'agent-request':
      return visit !== null && by === 'agent' && atNaturalClose(standing);
    case 'session-close':
      return visited && visit === null;
    default:
      return source satisfies never;
  }
}

const sourceName = (source: EntrySource): string =>
  source.kind === 'from' ? `from-${source.peripheral}` : source.kind;

/** What in a peripheral's entry, or in the mode, stands against coming in now; null: nothing. */
function entryProblem(moment: Moment, target: PeripheralSpec): Expected | null {
  const { pinned, standing, by } = moment;
  const allowed = pinned.specs.gate && standing.mode ? pinned.specs.gate.peripherals[standing.mode] : null;
  if (allowed && !allowed.includes(target.id)) return refused('mode-forbids', `mode ${standing.mode}`);
  if (target.agents !== null && !target.agents.includes(standing.agent))
    return refused('agent-not-allowed', `agents: ${target.agents.join(', ')}`);
  const { sources, conditions } = target.entry;
  if (!sources.some((source) => sourceApplies(source, moment)))
    return refused('entry-not-met', `entry: ${sources.map(sourceName).join(', ')}`);
  const onRequest = sources.some(({ kind }) => kind === 'agent-request');
  if (standing.visit && onRequest && by === 'agent' && !atNaturalClose(standing))
    return refused('entry-not-met', 'a natural close');
  const unmet = conditions.find((name) => !conditionHolds(moment, name));
  return unmet === undefined ? null : refused('condition-failed', `condition ${unmet}`);
}

/** The context that a visit would begin with, and the first field that nothing fills. */
export function contextFor(
  target: PeripheralSpec,
  standing: Pick<Standing, 'sessionId' | 'backpack' | 'fruits'>,
  given: Fields,
): { readonly context: Fields; readonly missing: string | null } {
  // Who a session is, is not the caller's to say.
  const others = Object.fromEntries(Object.entries(given).filter(([field]) => !IDENTITY_FIELDS.includes(field)));
  const context: { [field: string]: Json } = { ...others };
  let missing: string | null = null;
  for (const [field, { source, optional }] of Object.entries(target.context)) {
    const due =
      source.kind === 'session-log'
        ? { session: standing.sessionId }
        : source.kind === 'fruit'
          ? standing.fruits[source.peripheral]?.[field]
          : field === 'session-id'
            ? standing.sessionId
            : standing.backpack[field];
    const value = others[field] ?? due ?? null;
    if (value !== null) context[field] = value;
    else if (!optional) missing ??= field;
  }
  return { context, missing };
}

export function expectedStart(pinned: Pinned, standing: Standing, asked: Extract<Asked, { kind: 'start' }>): Expected {
  if (standing.visit) return refused('already-active', 'one visit at a time');
  const target = own(pinned.specs.peripherals, asked.peripheral);
  if (!target) return refused('hop-not-allowed', 'a peripheral of the spec');
  const closed = entryProblem({ pinned, standing, by: asked.by, fruit: {} }, target);
  if (closed) return closed;
  const { missing } = contextFor(target, standing, asked.context ?? {});
  return missing === null ? LAWFUL : refused('missing-context', `context ${missing}`);
}

function fruitProblem({ fruit: rules }: PeripheralSpec, observed: Fields, stated: Fields): Expected | null {
  for (const [field, rule] of Object.entries(rules)) {
    const has = Object.hasOwn(stated, field);
    if (rule.kind === 'observed') {
      if (has && !sameJson(stated[field], observed[field] ?? null))
        return refused('invalid-fruit', `fruit ${field} is observed`);
    } else if (!has) {
      if (!rule.optional) return refused('invalid-fruit', `fruit ${field} is stated`);
    } else if (!fits(stated[field] ?? null, rule.type)) return refused('invalid-fruit', `fruit ${field} has a type`);
  }
  const stranger = Object.keys(stated).find((field) => !Object.hasOwn(rules, field));
  return stranger === undefined ? null : refused('invalid-fruit', 'fruit fields of the spec');
}

/** The fruit that the visit would yield, with what the agent states. */
export function fruitNow(pinned: Pinned, standing: Standing, stated: Fields): Fields {
  const spec = standing.visit ? own(pinned.specs.peripherals, standing.visit.peripheral) : undefined;
  return spec ? { ...stated, ...observedNow(standing, spec) } : stated;
}

export function expectedStop(pinned: Pinned, standing: Standing, stated: Fields): Expected {
  const spec = standing.visit ? own(pinned.specs.peripherals, standing.visit.peripheral) : undefined;
  if (!spec) return refused('no-peripheral', 'a visit to stop');
  return fruitProblem(spec, observedNow(standing, spec), stated) ?? LAWFUL;
}

/** Whether a target's entry admits hops from a source at all, whatever else it asks for. */
const admitsHopsFrom = (target: PeripheralSpec, from: string): boolean =>
  target.entry.sources.some(
    (source) =>
      ['from-any', 'user-request', 'agent-request'].includes(source.kind) ||
      (source.kind === 'from' && source.peripheral === from),
  );

const gatesByTarget = new WeakMap<
  object,
  ReadonlyMap<string, readonly { readonly in: string; readonly rule: GateRule }[]>
>();

/** The gates on a destination, in whichever peripheral's file they stand; those of the peripheral being left come first. */
function gatesOn({ specs }: Pinned, from: PeripheralSpec, to: string): readonly GateRule[] {
  let all = gatesByTarget.get(specs.peripherals);
  if (!all) {
    const listed = Object.values(specs.peripherals).flatMap(({ id, gates }) =>
      Object.entries(gates).flatMap(([target, rules]) => rules.map((rule) => ({ in: id, rule, target }))),
    );
    all = Map.groupBy(listed, ({ target }) => target);
    gatesByTarget.set(specs.peripherals, all);
  }
  const gates = all.get(to) ?? [];
  const own = gates.filter((gate) => gate.in === from.id);
  return [...own, ...gates.filter((gate) => gate.in !== from.id)].map(({ rule }) => rule);
}

function exitProblem(moment: Moment, exit: Exit, when: string | null): Expected | null {
  const { implies, name } = exit;
  if (implies && moment.fruit[implies.field] !== implies.value)
    return refused('exit-not-met', `exit: ${implies.field} is ${implies.value}`);
  if (name === 'user-request' && moment.by !== 'operator') return refused('exit-not-met', 'exit: by the operator');
  if (when !== null && !ruleHolds(moment, when)) return refused('exit-not-met', `exit: when ${when}`);
  return null;
}

function gateProblem(moment: Moment, gate: GateRule): Expected | null {
  switch (gate.kind) {
    case 'approval':
      return null;
    case 'when':
      return ruleHolds(moment, gate.cel) ? null : refused('condition-failed', `gate: when ${gate.cel}`);
    case 'pattern': {
      const is = own(moment.standing.patterns, gate.pattern);
      const holds = gate.is === 'held' ? is === 'held' : is !== undefined;
      return holds ? null : refused('condition-failed', `gate: pattern ${gate.pattern} ${gate.is}`);
    }
    default:
      return gate satisfies never;
  }
}

export function expectedHop(pinned: Pinned, standing: Standing, asked: Extract<Asked, { kind: 'hop' }>): Expected {
  const source = standing.visit ? own(pinned.specs.peripherals, standing.visit.peripheral) : undefined;
  if (!source) return refused('no-peripheral', 'a visit to leave');
  const target = own(pinned.specs.peripherals, asked.to);
  if (!target) return refused('hop-not-allowed', 'a peripheral of the spec');
  const bad = fruitProblem(source, observedNow(standing, source), asked.fruit ?? {});
  if (bad) return bad;
  const admits = admitsHopsFrom(target, source.id);
  const opening = source.exits.filter(({ opens }) => admits && opens.some(({ to }) => to === target.id));
  if (opening.length === 0) return refused('hop-not-allowed', 'an exit that opens it, and an entry that admits it');
  if (asked.exit === undefined && opening.length > 1) return refused('exit-not-met', 'one exit');
  const exit = asked.exit === undefined ? opening[0]! : opening.find(({ name }) => name === asked.exit);
  if (!exit) {
    const known = source.exits.some(({ name }) => name === asked.exit);
    return known ? refused('hop-not-allowed', `exit ${asked.exit} opens it`) : refused('exit-not-met', 'a known exit');
  }
  if (exit.implies === null && asked.reason.trim() === '') return refused('exit-not-met', 'exit: a reason');
  const moment: Moment = { pinned, standing, by: asked.by, fruit: fruitNow(pinned, standing, asked.fruit ?? {}) };
  const when = exit.opens.find(({ to }) => to === target.id)?.when ?? null;
  const shut = exitProblem(moment, exit, when) ?? entryProblem(moment, target);
  if (shut) return shut;
  const gates = gatesOn(pinned, source, target.id);
  for (const gate of gates) {
    const closed = gateProblem(moment, gate);
    if (closed) return closed;
  }
  const said = Object.fromEntries(Object.entries(moment.fruit).filter(([, value]) => value !== null));
  const carried = {
    sessionId: standing.sessionId,
    fruits: { ...standing.fruits, [source.id]: moment.fruit },
    backpack: { ...standing.backpack, ...said },
  };
  const { missing } = contextFor(target, carried, {});
  if (missing !== null) return refused('missing-context', `context ${missing}`);
  return gates.some(({ kind }) => kind === 'approval') && !asked.approves
    ? refused('approval-required', 'gate: approval')
    : LAWFUL;
}
