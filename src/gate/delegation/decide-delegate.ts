import { valueOfLazy } from '../../base/lazy.ts';
import { excerpt, isBlank } from '../../base/text.ts';
import { getOwn } from '../../spec/names.ts';
import { APPROVAL_FIELD_TITLES } from '../../spec/policy/approval-fields.ts';
import { findDelegationEdge } from '../../spec/resolve/derive-edges.ts';
import type { Delegate, Fields, PeripheralSpec, ToolSpec } from '../../spec/types.ts';
import type { Approval, ApprovalAction } from '../approvals/approval.ts';
import { checkApproval } from '../approvals/check-approval.ts';
import { decideStep } from '../decide-step.ts';
import type { Denial } from '../denial.ts';
import { backpackFieldsOf, predictVisitFruit } from '../fruit.ts';
import { makeDenial } from '../make-denial.ts';
import {
  refuseByMode,
  refuseCondition,
  refuseEntry,
  refuseMissingContext,
  refuseUnknownPeripheral,
} from '../refuse-visit.ts';
import type { Decision, DelegateRequest, GateContext, StepRequest } from '../request.ts';
import { edgeRequirements } from '../requirements/edge-requirements.ts';
import { unmetRequirements } from '../requirements/requirement.ts';
import { collectRequirementFacts } from '../requirements/requirement-facts.ts';
import { transferContext } from '../transfer-context.ts';

export interface DelegatePlan {
  readonly from: string;
  readonly delegate: Delegate;
  /** The context that the sub-agent's visit starts with. */
  readonly context: Fields;
  /** The approval that this start uses up; null if it needs none. */
  readonly approval: Approval | null;
}

/**
 * Decides whether a sub-agent may start in a peripheral. The present peripheral must list it in `delegates`. The entry
 * rules and gates of the new peripheral apply as for a hop. The parent's visit continues.
 */
export function decideDelegate(context: GateContext, request: DelegateRequest): Decision<DelegatePlan> {
  const { specs, view } = context;
  if (view.closed) return makeDenial(context, 'session-closed', {});
  const here = view.visit && getOwn(specs.peripherals, view.visit.peripheral);
  if (!here) return makeDenial(context, 'no-peripheral', {});
  if (request.agency) return decideAgency(context, request, here);
  const target = typeof request.to === 'string' ? getOwn(specs.peripherals, request.to) : undefined;
  if (!target) return refuseUnknownPeripheral(context, request.to);
  const from = here.id;
  const delegate = here.delegates?.find(({ to }) => to === target.id);
  const edge = findDelegationEdge(specs.peripherals, from, target.id);
  const delegates = here.delegates?.map(({ to }) => to) ?? [];
  if (!delegate || !edge) return makeDenial(context, 'hop-not-allowed', { from, to: target.id, delegates });
  const { entry, gates } = edgeRequirements(specs, edge);
  const { fruit } = predictVisitFruit(here, valueOfLazy(view.visit?.observedFruit ?? {}), {});
  const facts = collectRequirementFacts(specs, view, [...entry, ...gates], { by: request.by, fruit });
  const refused =
    refuseByMode(context, target) ?? refuseEntry(context, target, unmetRequirements(entry, facts), fruit, true);
  if (refused) return refused;
  const [failedGate] = unmetRequirements(gates, facts).filter(({ kind }) => kind !== 'approval');
  if (failedGate) return refuseCondition(context, target, failedGate, fruit, true);
  const backpack = { ...view.backpack, ...backpackFieldsOf(fruit) };
  const { context: carried, missing } = transferContext(target, { ...view, backpack }, {}, { [from]: fruit });
  if (missing.length > 0) return refuseMissingContext(context, target, missing);
  const needsApproval = gates.some(({ kind }) => kind === 'approval');
  if (needsApproval) {
    const action: ApprovalAction = { kind: 'delegate', from, to: target.id };
    const approvalView = {
      [APPROVAL_FIELD_TITLES.context]: { ...carried },
      [APPROVAL_FIELD_TITLES.changes]: { ...valueOfLazy(view.changes) },
    };
    const checked = checkApproval(context, action, request, approvalView);
    if (checked) return checked;
  }
  const approval = needsApproval ? (request.approval ?? null) : null;
  return { ok: true, plan: { from, delegate, context: carried, approval } };
}

/**
 * Decides a run of an agent of the agency. The present peripheral must delegate to the agency peripheral. If tools are
 * on there, the delegation must be `own`, and the mode must allow tools that act.
 */
function decideAgency(
  context: GateContext,
  { to, agency }: DelegateRequest,
  { id: from, agencies = [] }: PeripheralSpec,
): Decision<DelegatePlan> {
  const { specs, view } = context;
  const delegate = agencies.find((each) => each.to === to);
  const tools = agency?.acts === true;
  if (!delegate || (tools && delegate.within !== 'own'))
    return makeDenial(context, 'hop-not-allowed', {
      from,
      to,
      agency: true,
      tools: tools && delegate !== undefined,
      delegates: agencies.map((each) => each.to),
    });
  const effects = specs.modeGate && view.mode !== null ? (specs.modeGate.effects[view.mode] ?? []) : null;
  if (tools && effects !== null && !effects.includes('act'))
    return makeDenial(context, 'mode-forbids', { to, mode: view.mode, allowed: effects });
  return { ok: true, plan: { from, delegate, context: {}, approval: null } };
}

/**
 * The refusal of a sub-agent's call because of the present state of its parent's session; null if there is none. A
 * sub-agent in its parent's envelope may do only what the parent may do now. A sub-agent in its `own` envelope only
 * needs the parent's mode to allow the call, and the parent's session to be open.
 */
export function denySubAgentCall(
  context: GateContext,
  request: StepRequest,
  within: Delegate['within'],
): Denial | null {
  if (within !== 'own') {
    const decision = decideStep(context, request);
    return decision.ok ? null : decision.denial;
  }
  const { specs, view } = context;
  if (view.closed) return makeDenial(context, 'session-closed', {}).denial;
  const tool: ToolSpec | undefined = getOwn(specs.tools, request.tool);
  const allowed = specs.modeGate && view.mode !== null ? (specs.modeGate.effects[view.mode] ?? []) : null;
  if (!tool || allowed === null || allowed.includes(tool.effect)) return null;
  const about = { tool: tool.id, effect: tool.effect, mode: view.mode, allowed };
  return makeDenial(context, 'mode-forbids', about).denial;
}

/** The peripheral that a type of sub-agent names; null if it names none or the present peripheral delegates nothing. */
export function findSubAgentPeripheral(
  { specs, view }: Pick<GateContext, 'specs' | 'view'>,
  type: string,
): string | null {
  const here = view.visit && getOwn(specs.peripherals, view.visit.peripheral);
  if (!here?.delegates) return null;
  const name = excerpt(type, 200).split(':').at(-1) ?? '';
  return !isBlank(name) && getOwn(specs.peripherals, name) ? name : null;
}
