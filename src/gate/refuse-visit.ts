import { edgesFromPeripheral } from '../spec/edges-from.ts';
import { findSimilarName, getOwn } from '../spec/names.ts';
import type { Edge, PeripheralSpec, Principal } from '../spec/types.ts';
import { isVisitSpent } from './available-actions.ts';
import type { WayLeg } from './denial.ts';
import type { Fruit } from './fruit.ts';
import { makeDenial } from './make-denial.ts';
import type { GateContext, Refusal } from './request.ts';
import { requirementsOfEdge } from './requirements/edge-requirements.ts';
import { describeRequirement, type Requirement, unmetRequirements } from './requirements/requirement.ts';
import { collectRequirementFacts } from './requirements/requirement-facts.ts';
import {
  describeSubject,
  explainRequirement,
  explainUnmet,
  noWayRemedy,
  remedyFor,
  ruleOf,
  untilItHolds,
  waysToObserve,
  wayToState,
} from './visit-remedies.ts';
import { shortestWay } from './ways/shortest-way.ts';
import { modeStepsToGoal } from './ways/way-modes.ts';

export function refuseUnknownPeripheral(context: GateContext, to: string): Refusal {
  const name = String(to);
  const suggestion = findSimilarName(name, Object.keys(context.specs.peripherals));
  return makeDenial(context, 'hop-not-allowed', {
    unknown: true,
    // True for the text of a value that is not a name, such as a list, an object or a number.
    misformed: name === '' || /[^\w.-]/.test(name) || !/\D/.test(name),
    to: name,
    from: context.view.visit?.peripheral ?? null,
    suggestion,
  });
}

/** Refuses an exit. `way` is the path to the target if this visit cannot make the exit hold. */
export function refuseExit(
  context: GateContext,
  edge: Edge,
  why: string,
  remedy?: string,
  way: readonly WayLeg[] | null = null,
): Refusal {
  const candidates = edgesFromPeripheral(context.specs, edge.from)
    .filter(({ to }) => to === edge.to)
    .map(({ exit }) => exit);
  const about = { exit: edge.exit, from: edge.from, to: edge.to, why, candidates, ...(remedy ? { remedy } : {}) };
  return makeDenial(context, 'exit-not-met', about, way);
}

/** Refuses an exit because of a requirement that does not hold. */
export function refuseUnmetExit(
  context: GateContext,
  edge: Edge,
  requirement: Requirement,
  options: { readonly by: Principal; readonly fruit: Fruit },
): Refusal {
  const way = requirement.kind === 'principal' ? null : wayTo(context, edge.to);
  const remedy = exitRemedy(context, requirement, options, way !== null);
  return refuseExit(context, edge, exitProblem(context, requirement, options.fruit), remedy, detour(way));
}

/** The shortest path to a peripheral that just refused a request; null if none is found. */
const wayTo = ({ specs, view }: GateContext, to: string): readonly WayLeg[] | null =>
  shortestWay(specs, view, new Set([to]));

/** The path if it has several legs: it leaves the present visit, because this visit cannot meet a need. Else null. */
const detour = (way: readonly WayLeg[] | null): readonly WayLeg[] | null => (way && way.length > 1 ? way : null);

function exitProblem(context: GateContext, requirement: Requirement, fruit: Fruit): string {
  if (requirement.kind === 'fruit') {
    const value = fruit[requirement.field] ?? null;
    return `the exit implies that ${describeRequirement(requirement)}, but ${requirement.field} is ${value === null ? 'unknown, because no observation of it counts' : JSON.stringify(value)}`;
  }
  if (requirement.kind === 'principal') return `only the ${requirement.is} can use this exit`;
  return `${describeSubject(requirement)} does not hold${explainRequirement(context, requirement, fruit)}`;
}

/** The remedy for an exit that does not hold: how to make it hold if it can, and the other exits that hold now. */
function exitRemedy(
  context: GateContext,
  requirement: Requirement,
  options: { readonly by: Principal; readonly fruit: Fruit },
  canHold: boolean,
): string {
  const { specs, view } = context;
  const open = edgesFromPeripheral(specs, view.visit?.peripheral ?? '').filter((edge) => {
    const target = specs.peripherals[edge.to];
    if (!target || refuseByMode(context, target)) return false;
    const requirements = requirementsOfEdge(specs, edge);
    return unmetRequirements(requirements, collectRequirementFacts(specs, view, requirements, options)).every(
      ({ kind }) => kind === 'approval',
    );
  });
  const others = Map.groupBy(open, ({ exit }) => exit);
  const exits = [...others].map(([exit, edges]) => `${exit} → ${edges.map(({ to }) => to).join(' or ')}`);
  const toMakeItHold = (): string => {
    if (requirement.kind === 'principal') return `ask the ${requirement.is} to request this hop`;
    if (!canHold || isVisitSpent(specs, view)) return noWayRemedy(context, exits.length === 0);
    if (requirement.kind !== 'fruit') return untilItHolds(context, requirement, options.fruit);
    const { field } = requirement;
    const call = waysToObserve(specs, view.visit?.peripheral ?? '', field, options.fruit[field]) ?? 'continue';
    return `${call} until ${describeRequirement(requirement)}`;
  };
  const first = toMakeItHold();
  return exits.length === 0 ? first : `${first}, or leave by an exit that holds (${exits.join('; ')})`;
}

/**
 * Refuses to enter a peripheral because of the first unmet requirement of its entry; null if all are met.
 * @param isDelegation true for the start of a sub-agent: the session's own path to the peripheral does not help then
 */
export function refuseEntry(
  context: GateContext,
  target: PeripheralSpec,
  [requirement]: readonly Requirement[],
  fruit: Fruit = {},
  isDelegation = false,
): Refusal | null {
  if (!requirement) return null;
  const { view } = context;
  const to = target.id;
  const from = view.visit?.peripheral ?? null;
  switch (requirement.kind) {
    case 'agent':
      return makeDenial(context, 'agent-not-allowed', { agent: view.agent, to, admits: requirement.any });
    case 'source':
      return makeDenial(
        context,
        'entry-not-met',
        { to, from, why: `it admits only entries ${describeRequirement(requirement)}` },
        shortestWay(context.specs, view, new Set([to])),
      );
    case 'natural-close':
      return makeDenial(
        context,
        'entry-not-met',
        {
          to,
          from,
          why: `an agent may enter it only at a natural close, and ${view.pending ? `${view.pending} is pending` : 'no step has succeeded since the last review'}`,
          missing: view.pending ? 'nothing-pending' : 'work',
          remedy: view.pending
            ? `wait until ${view.pending} has ended, or ask the operator to request the hop`
            : 'do some work first, or ask the operator to request the hop',
        },
        view.pending || isDelegation ? null : detour(wayTo(context, to)),
      );
    default:
      return refuseCondition(context, target, requirement, fruit, isDelegation);
  }
}

export function refuseCondition(
  context: GateContext,
  target: PeripheralSpec,
  requirement: Requirement,
  fruit: Fruit,
  isDelegation = false,
): Refusal {
  const way = isDelegation ? [] : wayTo(context, target.id);
  const why = explainUnmet(context, requirement, fruit);
  const remedy =
    way === null ? noWayRemedy(context, true) : remedyFor(context, requirement, isDelegation ? null : fruit);
  const path = detour(way);
  // The text of a path already names the rules of its hops. A requirement without a rule, such as tests, still needs
  // its remedy.
  const hasRemedy = path === null || ruleOf(context.specs, requirement) === undefined;
  const about = { to: target.id, condition: describeRequirement(requirement), why };
  return makeDenial(context, 'condition-failed', { ...about, ...(hasRemedy ? { remedy } : {}) }, path);
}

export function refuseMissingContext(
  context: GateContext,
  target: PeripheralSpec,
  missing: readonly { readonly field: string; readonly from: string }[],
): Refusal {
  return makeDenial(context, 'missing-context', {
    to: target.id,
    missing: missing.map(({ field, from }) =>
      getOwn(context.specs.peripherals, from) ? `${field} (from ${from})` : field,
    ),
    remedy: missing.map(({ field, from }) => wayToState(context, field, from)).join('; '),
  });
}

/** Refuses a hop that would ship files, because the files are not known. */
export function refuseUnknownTree(context: GateContext, { id: to }: PeripheralSpec): Refusal {
  const { tree } = context.view;
  const why = tree && 'problem' in tree ? tree.problem : 'no backend observes the working tree';
  return makeDenial(context, 'condition-failed', {
    to,
    condition: 'the files that would be shipped are known',
    why: `the files that would be shipped are unknown: ${why}`,
    remedy: 'Ask the operator to repair the repository, then hop again.',
  });
}

/** Refuses to enter a peripheral that the mode does not allow; null if the mode allows it. */
export function refuseByMode(context: GateContext, target: PeripheralSpec): Refusal | null {
  const { specs, view } = context;
  const allowed = specs.modeGate && view.mode ? specs.modeGate.peripherals[view.mode] : null;
  if (!allowed || allowed.includes(target.id)) return null;
  const way = modeStepsToGoal(context, (mode) => specs.modeGate?.peripherals[mode]?.includes(target.id) ?? true);
  return makeDenial(context, 'mode-forbids', { to: target.id, mode: view.mode, allowed, ...way });
}
