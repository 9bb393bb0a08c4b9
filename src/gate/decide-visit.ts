import { valueOfLazy } from '../base/lazy.ts';
import { excerpt } from '../base/text.ts';
import { edgesFromPeripheral } from '../spec/edges-from.ts';
import { getOwn } from '../spec/names.ts';
import { fieldsReportedByTools } from '../spec/reported-fields.ts';
import { findDelegationEdge } from '../spec/resolve/derive-edges.ts';
import type { Edge, Fields, PeripheralSpec } from '../spec/types.ts';
import type { Approval, ApprovalAction } from './approvals/approval.ts';
import { approvedHopView } from './approvals/approved-hop-view.ts';
import { checkApproval } from './approvals/check-approval.ts';
import { chooseEdge, findEdges, isNonBlankText } from './find-edge.ts';
import { backpackFieldsOf, type Fruit, predictVisitFruit } from './fruit.ts';
import { makeDenial } from './make-denial.ts';
import {
  refuseByMode,
  refuseCondition,
  refuseEntry,
  refuseExit,
  refuseMissingContext,
  refuseUnknownPeripheral,
  refuseUnknownTree,
  refuseUnmetExit,
} from './refuse-visit.ts';
import type { Decision, DelegateRequest, GateContext, HopRequest, StartRequest, StopRequest } from './request.ts';
import {
  dependsOnTree,
  edgeRequirements,
  requirementsOfEdge,
  startRequirements,
} from './requirements/edge-requirements.ts';
import { type RequirementFacts, unmetRequirements } from './requirements/requirement.ts';
import { collectRequirementFacts } from './requirements/requirement-facts.ts';
import type { TreeToShip } from './scope/compare-trees.ts';
import { transferContext } from './transfer-context.ts';

export interface StartPlan {
  readonly peripheral: PeripheralSpec;
  readonly context: Fields;
  /** The working tree that the decision depends on; absent if it depends on none. */
  readonly tree?: TreeToShip;
  /** The event for the hop graph's machine, with its facts. */
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
  /** The approval that this hop uses up; null if it needs none. */
  readonly approval: Approval | null;
}

/** Decides whether a visit may end, and computes its fruit. A stop is refused only for an invalid stated fruit. */
export function decideStop(context: GateContext, { fruit: stated }: Pick<StopRequest, 'fruit'>): Decision<StopPlan> {
  const { specs, view } = context;
  if (view.closed) return makeDenial(context, 'session-closed', {});
  const peripheral = view.visit ? specs.peripherals[view.visit.peripheral] : undefined;
  if (!view.visit || !peripheral) return makeDenial(context, 'no-peripheral', {});
  const { fruit, problems } = predictVisitFruit(peripheral, valueOfLazy(view.visit.observedFruit), stated ?? {});
  if (problems.length === 0) return { ok: true, plan: { peripheral, fruit } };
  return makeDenial(context, 'invalid-fruit', {
    peripheral: peripheral.id,
    ...(problems.every(({ isMissing }) => isMissing) ? { missing: problems.map(({ field }) => field) } : {}),
    problems: problems.map(({ field, problem }) => `${excerpt(field, 100)}: ${problem}`),
  });
}

/** Decides whether the session may be closed: only while it is open and in no visit. */
export function decideClose(context: GateContext): Decision<null> {
  const { view } = context;
  if (view.closed) return makeDenial(context, 'session-closed', {});
  if (view.visit) return makeDenial(context, 'already-active', { peripheral: view.visit.peripheral });
  return { ok: true, plan: null };
}

/**
 * Decides whether a peripheral may be started while the session is in none: the first time by `default`, later by
 * `session-close` or `user-request`.
 */
export function decideStart(context: GateContext, request: StartRequest): Decision<StartPlan> {
  const { specs, view } = context;
  if (view.closed) return makeDenial(context, 'session-closed', {});
  if (view.visit) return makeDenial(context, 'already-active', { peripheral: view.visit.peripheral });
  const target = peripheralOf(context, request.peripheral);
  if (!target) return refuseUnknownPeripheral(context, request.peripheral);
  const requirements = startRequirements(specs, target.id);
  const facts = collectRequirementFacts(specs, view, requirements, { by: request.by });
  const refused = refuseByMode(context, target) ?? refuseEntry(context, target, unmetRequirements(requirements, facts));
  if (refused) return refused;
  const { context: carried, missing } = transferContext(target, view, withoutState(context, request.context));
  if (missing.length > 0) return refuseMissingContext(context, target, missing);
  const event = { type: `start.${target.id}`, facts };
  return { ok: true, plan: { peripheral: target, context: carried, ...knownTree(context), event } };
}

/** The context that a caller supplied, without the fields of session state, because only tools may set these fields. */
function withoutState({ specs }: GateContext, fields: StartRequest['context'] = {}): Fields {
  const { state } = fieldsReportedByTools(specs);
  return Object.fromEntries(Object.entries(fields).filter(([field]) => !Object.hasOwn(state, field)));
}

/**
 * Decides a hop before anything changes: edge → prospective fruit → exit → entry → gates → context → approval. If only
 * the approval is missing, the decision names it.
 */
export function decideHop(context: GateContext, request: HopRequest): Decision<HopPlan> {
  const { specs, view } = context;
  if (view.closed) return makeDenial(context, 'session-closed', {});
  if (!view.visit) return makeDenial(context, 'no-peripheral', {});
  const from = view.visit.peripheral;
  const target = peripheralOf(context, request.to);
  if (!target) return refuseUnknownPeripheral(context, request.to);

  const edges = findEdges(context, request, from);
  if ('denial' in edges) return edges;
  const stop = decideStop(context, request);
  if (!stop.ok) return stop;
  const { fruit } = stop.plan;
  const edge = chooseEdge(context, request, edges, fruit);
  if ('denial' in edge) return edge;
  if (edge.implies === null && !isNonBlankText(request.reason))
    return refuseExit(context, edge, 'a hop by this exit needs a reason', 'state the reason in "reason"');
  const { exit, entry, gates } = edgeRequirements(specs, edge);
  const requirements = requirementsOfEdge(specs, edge);
  const options = { by: request.by, fruit };
  const factsBefore = collectRequirementFacts(specs, view, requirements, options);

  const [unmetExit] = unmetRequirements(exit, factsBefore);
  if (unmetExit) return refuseUnmetExit(context, edge, unmetExit, options);
  const refused =
    refuseByMode(context, target) ?? refuseEntry(context, target, unmetRequirements(entry, factsBefore), fruit);
  if (refused) return refused;
  const [failedGate] = unmetRequirements(gates, factsBefore).filter(({ kind }) => kind !== 'approval');
  if (failedGate) return refuseCondition(context, target, failedGate, fruit);

  const backpack = { ...view.backpack, ...backpackFieldsOf(fruit) };
  const carried = transferContext(target, { ...view, backpack }, {}, { [from]: fruit });
  if (carried.missing.length > 0) return refuseMissingContext(context, target, carried.missing);
  const needsApproval = gates.some(({ kind }) => kind === 'approval');
  if (needsApproval) {
    const action: ApprovalAction = { kind: 'hop', from, exit: edge.exit, to: target.id };
    const approvedView = approvedHopView(context, fruit, carried.context);
    if (approvedView === null) return refuseUnknownTree(context, target);
    const checked = checkApproval(context, action, request, approvedView);
    if (checked) return checked;
  }
  const facts = collectRequirementFacts(specs, view, requirements, { ...options, approved: needsApproval });
  return {
    ok: true,
    plan: {
      peripheral: target,
      context: carried.context,
      ...knownTree(context),
      event: { type: `${edge.exit}.${edge.to}`, facts },
      edge,
      fruit,
      reason: request.reason,
      approval: needsApproval ? (request.approval ?? null) : null,
    },
  };
}

/** True if the working tree must be observed before a request is decided. */
export function needsWorkingTree(
  { specs, view }: GateContext,
  request: HopRequest | StartRequest | DelegateRequest,
): boolean {
  const to = request.kind === 'start' ? request.peripheral : request.to;
  const from = view.visit?.peripheral;
  if (request.kind === 'delegate') {
    const edge = findDelegationEdge(specs.peripherals, from ?? '', to);
    return edge !== undefined && dependsOnTree(specs, requirementsOfEdge(specs, edge), to);
  }
  if (request.kind === 'start') return dependsOnTree(specs, startRequirements(specs, to), to);
  return (
    from !== undefined &&
    edgesFromPeripheral(specs, from).some(
      (edge) => edge.to === to && dependsOnTree(specs, requirementsOfEdge(specs, edge), to),
    )
  );
}

const knownTree = ({ view: { tree } }: GateContext): { readonly tree?: TreeToShip } =>
  tree && !('problem' in tree) ? { tree } : {};

const peripheralOf = ({ specs }: GateContext, id: string): PeripheralSpec | undefined =>
  typeof id === 'string' ? getOwn(specs.peripherals, id) : undefined;
