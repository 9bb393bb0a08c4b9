import { getOwn } from '../spec/names.ts';
import { takesCommandArgument } from '../spec/policy/argument-roles.ts';
import { CHECK_PASSED_VALUE, checkFieldOfCondition } from '../spec/reported-fields.ts';
import { type Json, type SpecSet, TESTS_PASSED_CONDITION } from '../spec/types.ts';
import { describeNeed, isVisitSpent } from './available-actions.ts';
import { describeFruitToState, type Fruit } from './fruit.ts';
import type { GateContext } from './request.ts';
import { explainRule } from './requirements/evaluate-rule.ts';
import { describeRequirement, type Requirement } from './requirements/requirement.ts';
import { collectCelFacts } from './requirements/requirement-facts.ts';
import { factsOfRequirement } from './ways/way-facts.ts';

/** The rule of a requirement in CEL; undefined if it has none. */
export function ruleOf({ conditions }: SpecSet, requirement: Requirement): string | undefined {
  if (requirement.kind === 'when') return requirement.cel;
  return requirement.kind === 'condition' ? getOwn(conditions, requirement.name) : undefined;
}

/** Explains why the rule of a requirement cannot be evaluated; empty if it can, or if there is no rule. */
export function explainRequirement({ specs, view }: GateContext, requirement: Requirement, fruit: Fruit): string {
  const rule = ruleOf(specs, requirement);
  return rule === undefined ? '' : explainRule(rule, collectCelFacts(view, fruit));
}

/** A requirement as the subject of a sentence: `the rule fruit.count > 2`. */
export const describeSubject = (requirement: Requirement): string =>
  requirement.kind === 'when' ? `the rule ${requirement.cel}` : describeRequirement(requirement);

/** The remedy if no path was found to a state in which the request is allowed. */
export const noWayRemedy = ({ specs, view }: GateContext, isStuck: boolean): string =>
  `${isVisitSpent(specs, view) ? 'no tool can be called in this visit any more' : 'nothing that can be done from here was found to make it hold'}${isStuck ? '; stop the visit, or ask the operator' : ''}`;

const isTestsPassed = (requirement: Requirement): boolean =>
  requirement.kind === 'condition' && requirement.name === TESTS_PASSED_CONDITION;

/** Says that a requirement does not hold, and why. */
export function explainUnmet(context: GateContext, requirement: Requirement, fruit: Fruit): string {
  const { tests } = context.view;
  if (isTestsPassed(requirement)) {
    return tests.stale === undefined
      ? `the condition tests-passed does not hold (each configured test command must pass in full after the last change; runs: ${tests.count}, failed: ${tests.failed})`
      : `the condition tests-passed does not hold any more (${tests.stale})`;
  }
  if (requirement.kind === 'pattern')
    return `the pattern ${requirement.pattern} ${requirement.is === 'selected' ? 'is not selected' : 'has no successful outcome'}`;
  const subject =
    requirement.kind === 'when'
      ? describeSubject(requirement)
      : `the condition ${describeNeed(context.specs, requirement)}`;
  return `${subject} does not hold${explainRequirement(context, requirement, fruit)}`;
}

function remedyForTests({ view: { tests, tree } }: GateContext): string {
  if (tests.stale === undefined)
    return 'run the configured tests in full with bash-test after the last change, until they pass';
  return tree && 'problem' in tree
    ? 'correct this problem, or ask the operator to correct it; tests alone do not help while git cannot list the files that would be shipped'
    : 'run the configured tests in full again with bash-test: only tested files may be shipped';
}

export function remedyFor(context: GateContext, requirement: Requirement, fruit: Fruit | null): string {
  if (isTestsPassed(requirement)) return remedyForTests(context);
  const { specs } = context;
  switch (requirement.kind) {
    case 'condition': {
      const check = checkFieldOfCondition(specs, requirement.name);
      if (check !== undefined) {
        return `run ${toolsObserving(specs, check).join(' or ')} after the last change, until it reports ${check}: ${CHECK_PASSED_VALUE}`;
      }
      return untilItHolds(context, requirement, fruit);
    }
    case 'pattern':
      return requirement.is === 'selected'
        ? `select the pattern ${requirement.pattern} first (psr-select)`
        : `apply the pattern ${requirement.pattern} and record a successful outcome (pur-update)`;
    default:
      return untilItHolds(context, requirement, fruit);
  }
}

/**
 * The remedy for a rule that does not hold. No call changes the backpack's fruit before the visit ends.
 * @param fruit the fruit of a hop; null for any other request
 */
export function untilItHolds({ specs, view }: GateContext, requirement: Requirement, fruit: Fruit | null): string {
  const subject = requirement.kind === 'condition' ? `the condition ${requirement.name}` : describeSubject(requirement);
  const rules = getOwn(specs.peripherals, view.visit?.peripheral ?? '')?.fruit ?? {};
  const isUnstated = (field: string) => rules[field]?.kind === 'stated' && (fruit?.[field] ?? null) === null;
  const reads = (field: string) =>
    new RegExp(`\\bfruit\\.${field.replaceAll('-', '_')}\\b`).test(ruleOf(specs, requirement) ?? '');
  const unstated = fruit === null ? [] : Object.keys(rules).filter((field) => isUnstated(field) && reads(field));
  if (unstated.length > 0) return `repeat the hop with ${describeFruitToState(unstated)}, for which ${subject} holds`;
  const facts = factsOfRequirement(specs, requirement);
  return view.visit && facts.length > 0 && facts.every(({ isLate }) => isLate)
    ? `leave by another exit, and come back with a fruit for which ${subject} holds: the fruit of this visit joins the backpack only at its end`
    : `continue until ${subject} holds`;
}

/**
 * `call TOOL`, for the tools of a peripheral whose backends report a field of its fruit; null if there are none.
 * @param value the field's present value. Running tests again would not change their known result.
 */
export function waysToObserve(specs: SpecSet, peripheral: string, field: string, value?: Json): string | null {
  const { fruit, tools = [], scope } = getOwn(specs.peripherals, peripheral) ?? {};
  const rule = getOwn(fruit ?? {}, field);
  const from = rule?.kind === 'observed' ? rule.from : null;
  const isTestResult = from === 'result' && (value ?? null) === null && scope?.rule.command === 'test';
  const observing = from === null ? [] : toolsObserving(specs, from);
  const reporting = tools.filter(
    (id) => observing.includes(id) || (isTestResult && takesCommandArgument(specs.tools[id]!)),
  );
  return reporting.length === 0 ? null : `call ${reporting.join(' or ')}`;
}

const toolsObserving = ({ tools }: SpecSet, field: string): string[] =>
  Object.values(tools).flatMap(({ id, observes = {} }) => (Object.hasOwn(observes, field) ? [id] : []));

/**
 * Explains how to supply a missing context field.
 * @param from the peripheral whose fruit must contain the field; any other text, such as `backpack`, means that every
 * fruit may contain it
 */
export function wayToState({ specs, view }: GateContext, field: string, from: string): string {
  const { peripherals } = specs;
  const all = Object.values(peripherals).filter(({ fruit }) => Object.hasOwn(fruit, field));
  const yielding = getOwn(peripherals, from) ? [from] : all.map(({ id }) => id);
  const here = view.visit?.peripheral ?? '';
  const nearest = yielding.includes(here) ? here : (yielding[0] ?? '');
  const rule = getOwn(getOwn(peripherals, nearest)?.fruit ?? {}, field);
  if (rule?.kind === 'observed') {
    const call = waysToObserve(specs, nearest, field);
    const report = call ? `${call}, which reports ${rule.from}` : `observe ${rule.from}`;
    return nearest === here ? `${report}, before the hop` : `${report}, in a visit to ${nearest}`;
  }
  if (rule && nearest === here) return `repeat the hop with ${describeFruitToState([field])}`;
  if (rule) return `state ${field} in the fruit when leaving ${yielding.join(' or ')}`;
  return `carry ${field} in the backpack, or supply it in the context of start`;
}
