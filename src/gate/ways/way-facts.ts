import { getOrInsert } from '../../base/get-or-insert.ts';
import { valueOfLazy } from '../../base/lazy.ts';
import { isBlank } from '../../base/text.ts';
import { getOwn } from '../../spec/names.ts';
import { takesCommandArgument } from '../../spec/policy/argument-roles.ts';
import { CHECK_PASSED_VALUE, checkFieldOfCondition, fieldsReportedByTools } from '../../spec/reported-fields.ts';
import {
  type Edge,
  type PeripheralSpec,
  type SpecSet,
  TESTS_PASSED_CONDITION,
  type ToolSpec,
} from '../../spec/types.ts';
import { requirementsOfEdge, startRequirements } from '../requirements/edge-requirements.ts';
import { isRequirementMet, type Requirement } from '../requirements/requirement.ts';
import { collectRequirementFacts } from '../requirements/requirement-facts.ts';
import type { SessionView } from '../session-view.ts';

/** A fact that a leg of a path needs. */
export interface WayFact {
  readonly key: string;
  /** True if the fact ends with the visit. */
  readonly ofVisit: boolean;
  /** True if the context of a start can supply the fact. */
  readonly atStart: boolean;
  /**
   * True if a rule reads the fact in the backpack. The fruit and the context of a move join the backpack only after the
   * move.
   */
  readonly isLate: boolean;
  /** The peripheral to whose last fruit the fact belongs; null for any other fact. */
  readonly fruitOf: string | null;
  /** The only peripheral that can make the fact true, as rules write its name; absent if others can, too. */
  readonly onlyIn?: string;
  readonly holds: (view: SessionView) => boolean;
  /** True if a visit to this peripheral, in which these tools can be called, can make the fact true. */
  readonly madeIn: (peripheral: PeripheralSpec, tools: readonly ToolSpec[]) => boolean;
}
type MadeIn = WayFact['madeIn'];

const byAnyTool: MadeIn = (_, tools) => tools.length > 0;
const byTests: MadeIn = ({ scope }, tools) => scope.rule.command === 'test' && tools.some(takesCommandArgument);
const byReport =
  (field: string): MadeIn =>
  (_, tools) =>
    tools.some(({ observes = {} }) => Object.hasOwn(observes, field));

/** True if a visit can yield a field of its fruit: as stated, or as observed by hopgate or by one of the tools. */
export function canYield(
  specs: SpecSet,
  peripheral: PeripheralSpec,
  field: string,
  tools: readonly ToolSpec[],
): boolean {
  const rule = getOwn(peripheral.fruit, field);
  if (rule?.kind !== 'observed') return rule !== undefined;
  if (rule.from === 'result') return byTests(peripheral, tools);
  const isReported = Object.hasOwn(fieldsReportedByTools(specs).observed, rule.from);
  return !isReported || byReport(rule.from)(peripheral, tools);
}

/** The context fields that a peripheral demands, and the fact that each needs. */
export const contextFacts = (specs: SpecSet, { context }: PeripheralSpec): readonly (readonly [string, WayFact])[] =>
  Object.entries(context).flatMap(([field, { source, optional }]) =>
    optional || source.kind === 'session-log' || field === 'session-id'
      ? []
      : [[field, fieldFact(specs, field, source.kind === 'fruit' ? source.peripheral : null)] as const],
  );

/** A field of the fruit of `from`, or, if that is null, of the backpack. */
function fieldFact(specs: SpecSet, field: string, from: string | null): WayFact {
  const isState = Object.hasOwn(fieldsReportedByTools(specs).state, field);
  return {
    key: `${from ?? ''}.${field}`,
    ofVisit: false,
    atStart: from === null && !isState,
    isLate: false,
    fruitOf: from,
    ...(from === null ? {} : { onlyIn: celName(from) }),
    holds: ({ backpack, fruits }) => {
      const value = (from === null ? backpack : getOwn(fruits, from))?.[field] ?? '';
      return !isBlank(value);
    },
    madeIn: (peripheral, tools) =>
      (from === null && tools.some(({ state = {} }) => Object.hasOwn(state, field))) ||
      ((from ?? peripheral.id) === peripheral.id && canYield(specs, peripheral, field, tools)),
  };
}

/**
 * The facts that a requirement needs; none if it can be met anywhere, or if it is a rule that {@link factsOfRule}
 * cannot interpret.
 */
export function factsOfRequirement(specs: SpecSet, requirement: Requirement): readonly WayFact[] {
  const rule = requirement.kind === 'when' ? requirement.cel : null;
  const named = requirement.kind === 'condition' ? getOwn(specs.conditions, requirement.name) : undefined;
  if (rule ?? named) return factsOfRule(specs, (rule ?? named)!);
  const madeIn = sourceOf(specs, requirement);
  return madeIn ? [factOf(specs, requirement, madeIn), ...changeFacts(specs, requirement)] : [];
}

const changesCode: MadeIn = ({ scope }, tools) =>
  scope.rule.write.length > 0 && tools.some(({ effect }) => effect === 'act');

/**
 * The fact that the code has changed. A different test result needs it, because a pass and a failure of the same code
 * count as flaky.
 */
function changeFacts(specs: SpecSet, requirement: Requirement): readonly WayFact[] {
  const { canChange: someoneCan, resultFields } = codeOf(specs);
  const value =
    requirement.kind === 'fruit' && resultFields.has(requirement.field)
      ? requirement.value
      : requirement.kind === 'condition' && requirement.name === TESTS_PASSED_CONDITION
        ? CHECK_PASSED_VALUE
        : null;
  if ((value !== CHECK_PASSED_VALUE && value !== 'fail') || !someoneCan) return [];
  const holds = ({ tests: { passed, failed, count } }: SessionView) =>
    value === CHECK_PASSED_VALUE ? passed || failed === 0 : failed === count;
  return [{ key: `change for ${value}`, ...NEVER, holds, madeIn: changesCode }];
}
const NEVER = { ofVisit: false, atStart: false, isLate: false, fruitOf: null };

/**
 * Facts about the code that the sessions of a spec set work on: `canChange` is true if a peripheral can change the
 * code; if none can, somebody else changes it.
 */
const codeOf = ({ peripherals, tools }: SpecSet) =>
  getOrInsert(codes, peripherals, () => {
    const all = Object.values(peripherals);
    const fields = all.flatMap(({ fruit }) => Object.entries(fruit));
    return {
      canChange: all.some((peripheral) =>
        changesCode(
          peripheral,
          peripheral.tools.flatMap((id) => getOwn(tools, id) ?? []),
        ),
      ),
      resultFields: new Set(
        fields.flatMap(([name, rule]) => (rule.kind === 'observed' && rule.from === 'result' ? [name] : [])),
      ),
    };
  });
const codes = new WeakMap<
  SpecSet['peripherals'],
  { readonly canChange: boolean; readonly resultFields: Set<string> }
>();

function sourceOf(specs: SpecSet, requirement: Requirement): MadeIn | null {
  switch (requirement.kind) {
    case 'fruit':
      return (peripheral, tools) => canYield(specs, peripheral, requirement.field, tools);
    case 'natural-close':
      return byAnyTool;
    case 'pattern':
      return (_, tools) =>
        tools.some(({ id }) => id === 'pur-update' || (id === 'psr-select' && requirement.is === 'selected'));
    case 'condition':
      return requirement.name === TESTS_PASSED_CONDITION
        ? byTests
        : byReport(checkFieldOfCondition(specs, requirement.name) ?? '');
    default:
      return null;
  }
}

const factOf = (specs: SpecSet, requirement: Requirement, madeIn: MadeIn): WayFact => ({
  key: JSON.stringify(requirement),
  ...NEVER,
  ofVisit: requirement.kind === 'fruit',
  holds: (view) => {
    const fruit = valueOfLazy(view.visit?.observedFruit ?? {});
    return isRequirementMet(requirement, collectRequirementFacts(specs, view, [requirement], { by: 'agent', fruit }));
  },
  madeIn,
});

/** A rule that joins its parts only with `&&`, so that each part must hold. */
const isConjunction = (rule: string): boolean => !/\|\||\?|!(?!=)|\.(?:all|exists|exists_one|filter|map)\(/.test(rule);

/** The facts that a rule needs, as far as its parts are simple: a count that must grow, or a field that must exist. */
function factsOfRule(specs: SpecSet, cel: string): readonly WayFact[] {
  const rule = cel.replace(/"[^"]*"|'[^']*'/g, '""');
  if (!isConjunction(rule)) return [];
  const counts = rule.split('&&').flatMap((part) => {
    const [key, root, name = '', sign, limit] = COUNT.exec(part.trim()) ?? [];
    const made = key === undefined ? null : countSource(specs, root!, name);
    if (key === undefined || !made) return [];
    const holds = (view: SessionView) => {
      const value = made.value(view) ?? 0;
      return sign === undefined ? value === true : Number(value) > Number(limit) - (sign === '>=' ? 1 : 0);
    };
    return [{ key, ...NEVER, ...made, ofVisit: root === 'visit', holds }];
  });
  const reads = [...rule.matchAll(/\b(fruit|backpack)\.(\w+)/g)].map(([key, root, name = '']): WayFact => {
    const fieldsIn = (of: object) => Object.keys(of).filter((field) => celName(field) === name);
    if (root === 'fruit')
      return { key, ...NEVER, ofVisit: true, holds: () => false, madeIn: ({ fruit }) => fieldsIn(fruit).length > 0 };
    const holds = ({ backpack }: SessionView) => fieldsIn(backpack).length > 0;
    const reporting = Object.values(specs.tools).filter(({ state = {} }) => fieldsIn(state).length > 0);
    if (reporting.length > 0)
      return { key, ...NEVER, holds, madeIn: (_, tools) => tools.some((tool) => reporting.includes(tool)) };
    if (name === 'changed_files') return { key, ...NEVER, holds, madeIn: changesCode };
    const madeIn: MadeIn = (peripheral, tools) =>
      fieldsIn(peripheral.fruit).some((field) => canYield(specs, peripheral, field, tools));
    return { key, ...NEVER, atStart: true, isLate: true, holds, madeIn };
  });
  return [...counts, ...reads];
}

const COUNT = /^(\w+)\.(\w+)(?:\s*(>=?)\s*(\d+))?$/;
const celName = (name: string): string => name.replaceAll('-', '_');

const peripheralsByCelName = (peripherals: SpecSet['peripherals']): ReadonlyMap<string, string> =>
  getOrInsert(celNames, peripherals, () => new Map(Object.keys(peripherals).map((id) => [celName(id), id])));
const celNames = new WeakMap<SpecSet['peripherals'], ReadonlyMap<string, string>>();

/**
 * If a visit can increase a fact of a rule: the value of the fact, and the peripherals that increase it. null for other
 * facts.
 */
function countSource({ peripherals }: SpecSet, root: string, name: string) {
  const value = (read: (view: SessionView) => number | boolean | undefined) => read;
  if (root === 'visits') {
    const peripheral = peripheralsByCelName(peripherals).get(name) ?? '';
    return {
      value: value(({ visits }) => visits[peripheral]),
      madeIn: (({ id }) => id === peripheral) as MadeIn,
      onlyIn: name,
    };
  }
  if (root === 'tests')
    return { value: value(({ tests }) => tests[name as 'passed' | 'count' | 'failed']), madeIn: byTests };
  if (name !== 'steps') return null;
  if (root === 'visit') return { value: value(({ visit }) => visit?.steps), madeIn: byAnyTool };
  return root === 'session' ? { value: value(({ steps }) => steps), madeIn: byAnyTool } : null;
}

/** The facts that the edges and starts of a spec set need, as bits. */
interface WayFactIndex {
  readonly maskOf: (isIn: (fact: WayFact) => boolean) => bigint;
  readonly ofFacts: (facts: readonly WayFact[]) => bigint;
  readonly ofEdge: (edge: Edge) => bigint;
  readonly ofStart: (to: string) => bigint;
  /** The facts that a visit can make true. */
  readonly ofVisit: (peripheral: PeripheralSpec, tools: readonly ToolSpec[]) => bigint;
  /** The fields of the fruit of a peripheral. */
  readonly ofFruit: (from: string) => bigint;
}

const indexes = new WeakMap<SpecSet, WayFactIndex>();

export const wayFactsOf = (specs: SpecSet): WayFactIndex => getOrInsert(indexes, specs, () => indexOf(specs));

function indexOf(specs: SpecSet): WayFactIndex {
  const all: WayFact[] = [];
  const bits = new Map<string, bigint>();
  const ofFacts = (facts: readonly WayFact[]): bigint =>
    facts.reduce((mask, fact) => mask | getOrInsert(bits, fact.key, () => 1n << BigInt(all.push(fact) - 1)), 0n);
  const factsOf = (requirements: readonly Requirement[]) =>
    requirements.flatMap((requirement) => factsOfRequirement(specs, requirement));
  const entries = Object.values(specs.peripherals).map((peripheral) => {
    const context = contextFacts(specs, peripheral).map(([, fact]) => fact);
    // The context of a start supplies every field but session state.
    const start = context.filter(({ atStart, fruitOf }) => !atStart && fruitOf === null);
    return [
      peripheral.id,
      { hop: ofFacts(context), start: ofFacts([...factsOf(startRequirements(specs, peripheral.id)), ...start]) },
    ] as const;
  });
  const byPlace = new Map(entries);
  const byEdge = new Map(
    specs.edges.map((edge) => [
      edge,
      (byPlace.get(edge.to)?.hop ?? 0n) | ofFacts(factsOf(requirementsOfEdge(specs, edge))),
    ]),
  );
  const byFruit = Map.groupBy(all, ({ fruitOf }) => fruitOf);
  const byMaker = Map.groupBy(all, ({ onlyIn }) => onlyIn);
  return {
    maskOf: (isIn) => ofFacts(all.filter(isIn)),
    ofFacts,
    ofEdge: (edge) => byEdge.get(edge) ?? 0n,
    ofFruit: (from) => ofFacts(byFruit.get(from) ?? []),
    ofVisit: (peripheral, tools) =>
      ofFacts(
        [undefined, celName(peripheral.id)].flatMap((maker) =>
          (byMaker.get(maker) ?? []).filter(({ madeIn }) => madeIn(peripheral, tools)),
        ),
      ),
    ofStart: (to) => byPlace.get(to)?.start ?? 0n,
  };
}
