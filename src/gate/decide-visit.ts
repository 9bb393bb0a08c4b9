import { nearest } from '../spec/names.ts';
import type { Edge, Json, PeripheralSpec, Principal } from '../spec/types.ts';
import { excerpt } from '../spec/visible.ts';
import {
  type ApprovalAction,
  type ApprovalGrant,
  type ApprovalSubject,
  approvalHash,
  approvalProblem,
} from './approval.ts';
import { transferContext } from './context.ts';
import type { Denial } from './denial.ts';
import { deny } from './deny.ts';
import { requirementFacts } from './facts.ts';
import { type Fruit, prospectiveFruit } from './fruit.ts';
import type { CloseRequest, Decision, GateContext, HopRequest, StartRequest, StopRequest } from './request.ts';
import { describeRequirement, type Requirement, type RequirementFacts, unmet } from './requirement.ts';
import { edgeRequirements, requirementsOf, startRequirements } from './requirements.ts';
import { shortestWay } from './ways.ts';

export interface StartPlan {
  readonly peripheral: PeripheralSpec;
  readonly context: { readonly [field: string]: Json };
  /** The hop graph's event and the facts that ride in it. */
  readonly event: { readonly type: string; readonly facts: RequirementFacts };
}
export interface StopPlan {
  readonly peripheral: PeripheralSpec;
  readonly fruit: Fruit;
}
export interface HopPlan extends StartPlan {
  readonly edge: Edge;
  readonly fruit: Fruit;
  readonly reason: string;
  /** The approval that this hop uses up; null where none is needed. */
  readonly approval: ApprovalGrant | null;
}

const stopPlan = (context: GateContext, stated: Fruit | undefined): Decision<StopPlan> => {
  const { specs, view } = context;
  if (view.closed) return deny(context, 'session-closed', {});
  const peripheral = view.visit ? specs.peripherals[view.visit.peripheral] : undefined;
  if (!view.visit || !peripheral) return deny(context, 'no-peripheral', {});
  const { fruit, problems } = prospectiveFruit(peripheral, view.visit.observed, stated ?? {});
  if (problems.length === 0) return { ok: true, plan: { peripheral, fruit } };
  return deny(context, 'invalid-fruit', {
    peripheral: peripheral.id,
    problems: problems.map(({ field, problem }) => `${excerpt(field, 100)}: ${problem}`),
  });
};

/** Whether a visit may end here, and with which fruit. Leaving is never refused for what happened, only for a fruit that does not fit. */
export function decideStop(context: GateContext, { fruit }: StopRequest): Decision<StopPlan> {
  return stopPlan(context, fruit);
}

/** Whether the session may be closed: not twice, and not in the middle of a visit. */
export function decideClose(context: GateContext, _request: CloseRequest): Decision<null> {
  const { view } = context;
  if (view.closed) return deny(context, 'session-closed', {});
  if (view.visit) return deny(context, 'already-active', { peripheral: view.visit.peripheral });
  return { ok: true, plan: null };
}

/** Whether a peripheral may be started from outside: `default` on the first visit, later `session-close` or the operator's `user-request`. */
export function decideStart(context: GateContext, request: StartRequest): Decision<StartPlan> {
  const { specs, view } = context;
  if (view.closed) return deny(context, 'session-closed', {});
  if (view.visit) return deny(context, 'already-active', { peripheral: view.visit.peripheral });
  const target = peripheralOf(context, request.peripheral);
  if (!target) return unknownPeripheral(context, request.peripheral);
  const requirements = startRequirements(specs, target.id);
  const facts = requirementFacts(specs, view, requirements, { by: request.by });
  const closed = modeForbids(context, target) ?? firstUnmetEntry(context, target, unmet(requirements, facts));
  if (closed) return closed;
  const { context: carried, missing } = transferContext(target, view, request.context);
  if (missing.length > 0) return missingContext(context, target, missing);
  return { ok: true, plan: { peripheral: target, context: carried, event: { type: `start.${target.id}`, facts } } };
}

/**
 * Whether a hop may happen, judged before anything changes: prospective fruit → exit → entry → gates → context, and the approval last. When
 * nothing but it is missing, the decision says which one is wanted.
 */
export function decideHop(context: GateContext, request: HopRequest): Decision<HopPlan> {
  const { specs, view } = context;
  if (view.closed) return deny(context, 'session-closed', {});
  if (!view.visit) return deny(context, 'no-peripheral', {});
  const from = view.visit.peripheral;
  const target = peripheralOf(context, request.to);
  if (!target) return unknownPeripheral(context, request.to);

  const stop = stopPlan(context, request.fruit);
  if (!stop.ok) return stop;
  const { fruit } = stop.plan;

  const edge = edgeOf(context, request, from);
  if ('denial' in edge) return edge;
  if (edge.implies === null && !isText(request.reason)) {
    return exitNotMet(context, edge, 'an exit that the agent states needs a reason', 'say why in reason');
  }
  const { exit, entry, gates } = edgeRequirements(specs, edge);
  const all = requirementsOf(specs, edge);
  const options = { by: request.by, fruit };
  const before = requirementFacts(specs, view, all, options);

  const [notLeft] = unmet(exit, before);
  if (notLeft) return exitNotMet(context, edge, exitProblem(notLeft, fruit), exitRemedy(context, notLeft, options));
  const closed = modeForbids(context, target) ?? firstUnmetEntry(context, target, unmet(entry, before));
  if (closed) return closed;
  const [shut] = unmet(gates, before).filter(({ kind }) => kind !== 'approval');
  if (shut) return conditionFailed(context, target, shut);

  const carried = transferContext(target, {
    ...view,
    fruits: { ...view.fruits, [from]: fruit },
    backpack: { ...view.backpack, ...backpackOf(fruit) },
  });
  if (carried.missing.length > 0) return missingContext(context, target, carried.missing);
  const needsApproval = gates.some(({ kind }) => kind === 'approval');
  if (needsApproval) {
    const action: ApprovalAction = { kind: 'hop', from, exit: edge.exit, to: target.id };
    const approvalView = { fruit: { ...fruit }, context: { ...carried.context }, changes: { ...view.changes } };
    const checked = checkApproval(context, action, request, approvalView);
    if (checked) return checked;
  }
  const facts = requirementFacts(specs, view, all, { ...options, approved: needsApproval });
  return {
    ok: true,
    plan: {
      peripheral: target,
      context: carried.context,
      event: { type: `${edge.exit}.${edge.to}`, facts },
      edge,
      fruit,
      reason: request.reason,
      approval: needsApproval ? (request.approval ?? null) : null,
    },
  };
}

/** What a fruit puts into the backpack: every field that says something. */
export function backpackOf(fruit: Fruit): Fruit {
  return Object.fromEntries(Object.entries(fruit).filter(([, value]) => value !== null));
}

const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '';

const peripheralOf = ({ specs }: GateContext, id: string): PeripheralSpec | undefined =>
  typeof id === 'string' && Object.hasOwn(specs.peripherals, id) ? specs.peripherals[id] : undefined;

type Refusal = Extract<Decision<never>, { ok: false }>;

function unknownPeripheral(context: GateContext, to: string): Refusal {
  const suggestion = nearest(String(to), Object.keys(context.specs.peripherals));
  return deny(context, 'hop-not-allowed', {
    unknown: true,
    // What a list or an object became.
    misformed: !/^[\w.-]+$/.test(to) || /^\d+$/.test(to),
    to: String(to),
    from: context.view.visit?.peripheral ?? null,
    suggestion,
  });
}

/** The edge that a hop request means; the exit is inferred when only one opens the target. */
function edgeOf(context: GateContext, { to, exit }: HopRequest, from: string): Edge | Refusal {
  const { specs, view } = context;
  const edges = specs.edges.filter((edge) => edge.from === from && edge.to === to);
  const candidates = edges.map((edge) => edge.exit);
  if (edges.length === 0) {
    const way = shortestWay(specs, view, (peripheral) => peripheral === to);
    return deny(context, 'hop-not-allowed', { from, to, exit: exit ?? null }, way);
  }
  if (exit === undefined) {
    const [only] = edges;
    if (edges.length === 1 && only) return only;
    return deny(context, 'exit-not-met', {
      exit: null,
      from,
      to,
      why: 'several exits open the target; name one',
      candidates,
    });
  }
  const edge = edges.find((candidate) => candidate.exit === exit);
  if (edge) return edge;
  const known = specs.peripherals[from]?.exits.some(({ name }) => name === exit) ?? false;
  if (known)
    return deny(
      context,
      'hop-not-allowed',
      { from, to, exit },
      shortestWay(specs, view, (peripheral) => peripheral === to),
    );
  return deny(context, 'exit-not-met', { exit, from, to, why: `${from} has no exit of this name`, candidates });
}

function exitNotMet(context: GateContext, edge: Edge, why: string, remedy?: string): Refusal {
  const candidates = context.specs.edges
    .filter(({ from, to }) => from === edge.from && to === edge.to)
    .map(({ exit }) => exit);
  return deny(context, 'exit-not-met', {
    exit: edge.exit,
    from: edge.from,
    to: edge.to,
    why,
    candidates,
    ...(remedy ? { remedy } : {}),
  });
}

function exitProblem(requirement: Requirement, fruit: Fruit): string {
  if (requirement.kind === 'fruit') {
    const is = fruit[requirement.field] ?? null;
    return `it implies that ${describeRequirement(requirement)}, but it is ${is === null ? 'not known: nothing that counts was observed' : JSON.stringify(is)}`;
  }
  if (requirement.kind === 'principal') return `only the ${requirement.is} can make a user-request`;
  return `${describeRequirement(requirement)} does not hold`;
}

/** What would make the exit hold, and which other exits hold now but for an approval. */
function exitRemedy(
  context: GateContext,
  requirement: Requirement,
  options: { readonly by: Principal; readonly fruit: Fruit },
): string {
  const { specs, view } = context;
  const open = specs.edges.filter((edge) => {
    const target = specs.peripherals[edge.to];
    if (edge.from !== view.visit?.peripheral || !target || modeForbids(context, target)) return false;
    const requirements = requirementsOf(specs, edge);
    return unmet(requirements, requirementFacts(specs, view, requirements, options)).every(
      ({ kind }) => kind === 'approval',
    );
  });
  const others = Map.groupBy(open, ({ exit }) => exit);
  const exits = [...others].map(([exit, edges]) => `${exit} → ${edges.map(({ to }) => to).join(' or ')}`);
  const first =
    requirement.kind === 'principal'
      ? `let the ${requirement.is} ask`
      : `go on until ${describeRequirement(requirement)}`;
  return exits.length === 0 ? first : `${first}, or leave by an exit that holds (${exits.join('; ')})`;
}

function firstUnmetEntry(
  context: GateContext,
  target: PeripheralSpec,
  [requirement]: readonly Requirement[],
): Refusal | null {
  if (!requirement) return null;
  const { view } = context;
  const to = target.id;
  const from = view.visit?.peripheral ?? null;
  switch (requirement.kind) {
    case 'agent':
      return deny(context, 'agent-not-allowed', { agent: view.agent, to, admits: requirement.any });
    case 'source':
      return deny(
        context,
        'entry-not-met',
        { to, from, why: `it admits ${describeRequirement(requirement)}` },
        shortestWay(context.specs, view, (peripheral) => peripheral === to),
      );
    case 'natural-close':
      return deny(context, 'entry-not-met', {
        to,
        from,
        why: 'an agent may ask for it at a natural close: a successful step since the last PAR, and nothing pending',
        remedy: 'do some work first, or let the operator ask',
      });
    default:
      return conditionFailed(context, target, requirement);
  }
}

function conditionFailed(context: GateContext, target: PeripheralSpec, requirement: Requirement): Refusal {
  const { tests } = context.view;
  const why =
    requirement.kind === 'condition' && requirement.name === 'tests-passed'
      ? `tests-passed does not hold (it takes a full passing run of a configured test command after the last change; runs: ${tests.count}, failed: ${tests.failed})`
      : `${describeRequirement(requirement)} does not hold`;
  return deny(context, 'condition-failed', {
    to: target.id,
    condition: describeRequirement(requirement),
    why,
    remedy: remedyFor(requirement),
  });
}

function remedyFor(requirement: Requirement): string {
  switch (requirement.kind) {
    case 'condition':
      return requirement.name === 'tests-passed'
        ? 'run the configured tests in full with bash-test after the last change, until they pass'
        : `make the condition ${requirement.name} hold (its rule stands in the spec set's conditions)`;
    case 'pattern':
      return requirement.is === 'selected'
        ? `select the pattern ${requirement.pattern} first (psr-select)`
        : `apply the pattern ${requirement.pattern} and record a successful outcome (pur-update)`;
    default:
      return `make it hold: ${describeRequirement(requirement)}`;
  }
}

function missingContext(
  context: GateContext,
  target: PeripheralSpec,
  missing: readonly { readonly field: string; readonly from: string }[],
): Refusal {
  return deny(context, 'missing-context', {
    to: target.id,
    missing: missing.map(({ field, from }) => `${field} (from ${from})`),
    remedy: missing
      .map(({ field, from }) =>
        from in context.specs.peripherals
          ? `state ${field} in the fruit when leaving ${from}`
          : `carry ${field} in the backpack, or supply it in the context of start`,
      )
      .join('; '),
  });
}

function modeForbids(context: GateContext, target: PeripheralSpec): Refusal | null {
  const { specs, view } = context;
  const allowed = specs.gate && view.mode ? specs.gate.peripherals[view.mode] : null;
  if (!allowed || allowed.includes(target.id)) return null;
  return deny(context, 'mode-forbids', { to: target.id, mode: view.mode, allowed });
}

/** Judges the approval that came with a request, or says which one is wanted; null: it holds. Comes last, so that nobody is asked in vain. */
export function checkApproval(
  context: GateContext,
  action: ApprovalAction,
  request: { readonly reason?: string; readonly approval?: ApprovalGrant },
  shown: ApprovalSubject['view'],
): Refusal | null {
  const { view } = context;
  const subject: ApprovalSubject = { sessionId: view.sessionId, action, reason: request.reason ?? '', view: shown };
  const requestHash = approvalHash(subject);
  const what = action.kind === 'hop' ? `the hop from ${action.from} to ${action.to}` : `mode ${action.to}`;
  if (!request.approval) {
    const refusal = deny(context, 'approval-required', { what, ...actionAbout(action) });
    return { ...refusal, wanted: { subject, hash: requestHash } };
  }
  const problem = approvalProblem(
    request.approval,
    { sessionId: view.sessionId, requestHash },
    view.now,
    view.usedNonces,
  );
  return problem ? deny(context, 'approval-invalid', { what, why: problem, ...actionAbout(action) }) : null;
}

const actionAbout = (action: ApprovalAction): Denial['about'] =>
  action.kind === 'hop'
    ? { from: action.from, exit: action.exit, to: action.to }
    : { mode: action.from, to: action.to };
