import { checkFieldOfCondition } from '../../spec/reported-fields.ts';
import { type Json, type Principal, type SpecSet, TESTS_PASSED_CONDITION } from '../../spec/types.ts';
import type { Fruit } from '../fruit.ts';
import type { SessionView } from '../session-view.ts';
import { type CelFacts, evaluateRule } from './evaluate-rule.ts';
import type { Requirement, RequirementFacts } from './requirement.ts';

/** The facts for CEL rules: the session's, the prospective fruit of the visit being left, and a call's arguments. */
export function collectCelFacts(view: SessionView, fruit: Fruit, args: Fruit = {}): CelFacts {
  return {
    args,
    fruit,
    session: {
      agent: view.agent,
      steps: view.steps,
      visits: Object.values(view.visits).reduce((sum, count) => sum + count, 0),
      denials: view.denials,
      mode: view.mode,
      peripheral: view.visit?.peripheral ?? null,
    },
    visit: {
      steps: view.visit?.steps ?? 0,
      denials: view.visit?.denials ?? 0,
      peripheral: view.visit?.peripheral ?? null,
    },
    tests: { passed: view.tests.passed, count: view.tests.count, failed: view.tests.failed },
    backpack: view.backpack,
    visits: view.visits,
  };
}

interface FactOptions {
  readonly by: Principal;
  readonly fruit?: Fruit;
  readonly approved?: boolean;
  readonly summary?: string | null;
}

/** The facts of a request, as the machine's event carries them: plain data, with the rules already evaluated. */
export function collectRequirementFacts(
  specs: SpecSet,
  view: SessionView,
  requirements: readonly Requirement[],
  { by, fruit = {}, approved = false, summary = null }: FactOptions,
): RequirementFacts {
  let cel: CelFacts | undefined;
  const holds = (rule: string): boolean => {
    cel ??= collectCelFacts(view, fruit);
    return evaluateRule(rule, cel);
  };
  const conditions: Record<string, boolean> = {};
  const when: Record<string, boolean> = {};
  for (const requirement of requirements) {
    if (requirement.kind === 'when') when[requirement.cel] = holds(requirement.cel);
    if (requirement.kind === 'condition') {
      const { name } = requirement;
      const rule = specs.conditions[name];
      const check = checkFieldOfCondition(specs, name);
      if (name === TESTS_PASSED_CONDITION) conditions[name] = view.tests.passed;
      else if (check !== undefined) conditions[name] = view.checks?.includes(check) ?? false;
      else conditions[name] = rule !== undefined && holds(rule);
    }
  }
  const visited = view.visit !== null || Object.keys(view.visits).length > 0;
  return {
    by,
    source: view.visit?.peripheral ?? null,
    agent: view.agent,
    firstVisit: !visited,
    atSessionClose: visited && view.visit === null,
    naturalClose: view.naturalClose,
    fruit: fruit as { [field: string]: Json },
    conditions,
    when,
    approved,
    summary,
    patterns: { ...view.patterns },
  };
}
