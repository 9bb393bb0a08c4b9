import { valueOfLazy } from '../base/lazy.ts';
import { decide } from '../gate/decide.ts';
import type { GateContext, HopRequest, StartRequest } from '../gate/request.ts';
import { requirementsOfEdge, startRequirements } from '../gate/requirements/edge-requirements.ts';
import { describeRequirement, type Requirement, unmetRequirements } from '../gate/requirements/requirement.ts';
import { collectRequirementFacts } from '../gate/requirements/requirement-facts.ts';
import { edgesFromPeripheral } from '../spec/edges-from.ts';
import { type Edge, type Fields, type Principal, TESTS_PASSED_CONDITION } from '../spec/types.ts';
import type { HopOption, UnmetHopRequirement } from './view-state.ts';

/**
 * Every hop from the present peripheral (outside of one: every start that somebody can use), with the gate's decision.
 * The request is assumed to have a reason, and the fruit that was observed so far. The working tree is not read.
 * @param passedBefore true if all tests have passed once
 */
export function judgedHopOptions(context: GateContext, passedBefore: boolean): readonly HopOption[] {
  const { specs, view } = context;
  if (view.closed) return [];
  if (view.visit)
    return edgesFromPeripheral(specs, view.visit.peripheral).map((edge) =>
      hopOptionOfEdge(context, edge, passedBefore),
    );
  return Object.keys(specs.peripherals).flatMap((to) => {
    const option = judgeHopOption(
      context,
      (by) => ({ kind: 'start', peripheral: to, by }),
      startRequirements(specs, to),
      passedBefore,
    );
    // Only the starts that somebody can use now are listed, because most peripherals cannot be started.
    return option.status === 'closed' ? [] : [{ exit: null, to, ...option }];
  });
}

/** A cache key for {@link judgedHopOptions}; null if a rule may read any counter, which each entry changes. */
export function cacheKeyOfHopOptions({ specs, view }: GateContext, passedBefore: boolean): string | null {
  const { visit } = view;
  const edges = visit ? edgesFromPeripheral(specs, visit.peripheral) : [];
  const needs = edges.flatMap((edge) => requirementsOfEdge(specs, edge));
  const starts = visit ? [] : Object.keys(specs.peripherals).flatMap((to) => startRequirements(specs, to));
  if ([...needs, ...starts].some(isRule)) return null;
  const observed = valueOfLazy(visit?.observedFruit ?? {});
  const fruit = needs.map((need) => (need.kind === 'fruit' ? observed[need.field] : null));
  return JSON.stringify([
    [view.closed, view.mode, visit?.peripheral, visit?.status, view.naturalClose, view.steps === 0],
    [Object.keys(view.visits), view.tests, view.patterns, fruit, passedBefore],
    [presentFields(view.backpack), Object.entries(view.fruits).map(([id, fields]) => [id, presentFields(fields)])],
  ]);
}

const isRule = (need: Requirement): boolean =>
  need.kind === 'when' || (need.kind === 'condition' && need.name !== TESTS_PASSED_CONDITION);
const presentFields = (fields: Fields): readonly string[] =>
  Object.keys(fields).filter((field) => fields[field] !== null);

function hopOptionOfEdge(context: GateContext, edge: Edge, passedBefore: boolean): HopOption {
  const { exit, to } = edge;
  const request = (by: Principal): HopRequest => ({ kind: 'hop', to, exit, reason: 'shown', by });
  return { exit, to, ...judgeHopOption(context, request, requirementsOfEdge(context.specs, edge), passedBefore) };
}

function judgeHopOption(
  context: GateContext,
  request: (by: Principal) => HopRequest | StartRequest,
  requirements: readonly Requirement[],
  passedBefore: boolean,
): Pick<HopOption, 'status' | 'missing' | 'remedy'> {
  const decision = decide(context, request('agent'));
  if (decision.ok) return { status: 'open', missing: [], remedy: '' };
  const { denial, wanted } = decision;
  if (wanted) return { status: 'asks', missing: [{ words: 'approval by operator' }], remedy: denial.remedy };
  const fruit = valueOfLazy(context.view.visit?.observedFruit ?? {});
  const facts = collectRequirementFacts(context.specs, context.view, requirements, { by: 'agent', fruit });
  const needs = unmetRequirements(requirements, facts).map((need) => missingOf(context, need, passedBefore));
  const byNeed = NEEDS.includes(denial.code) && needs.length > 0;
  const byOperator = decide(context, request('operator'));
  return {
    status: byOperator.ok || byOperator.wanted ? 'yours' : 'closed',
    missing: byNeed ? needs : [{ words: denial.message }, ...needs],
    remedy: denial.remedy,
  };
}

/** The codes of refusals that name a missing requirement of a hop. */
const NEEDS: readonly string[] = ['exit-not-met', 'entry-not-met', 'condition-failed', 'agent-not-allowed'];

function missingOf({ view }: GateContext, need: Requirement, passedBefore: boolean): UnmetHopRequirement {
  if (need.kind !== 'condition' || need.name !== TESTS_PASSED_CONDITION)
    return { words: `needs: ${describeRequirement(need)}` };
  if (view.tests.stale !== undefined) return { words: `tests are stale: ${view.tests.stale}` };
  if (view.tests.failed > 0) return { words: 'tests fail' };
  if (passedBefore) return { words: 'tests are stale', stale: true };
  return {
    words:
      view.tests.count > 0 ? 'not every configured test has passed in full' : 'no test has run since the last change',
  };
}
