import { listModesOfGate } from '../spec/mode-way.ts';
import { findSimilarName } from '../spec/names.ts';
import { APPROVAL_FIELD_TITLES } from '../spec/policy/approval-fields.ts';
import type { Mode } from '../spec/types.ts';
import type { Approval } from './approvals/approval.ts';
import { checkApproval } from './approvals/check-approval.ts';
import { makeDenial } from './make-denial.ts';
import type { Decision, GateContext, ModeRequest } from './request.ts';
import { transitionRequirements } from './requirements/edge-requirements.ts';
import type { RequirementFacts } from './requirements/requirement.ts';
import { collectRequirementFacts } from './requirements/requirement-facts.ts';
import { modeStepsToGoal } from './ways/way-modes.ts';

export interface ModePlan {
  readonly from: Mode;
  readonly to: Mode;
  readonly how: 'transition' | 'reset' | 'timeout';
  readonly event: { readonly type: string; readonly facts: RequirementFacts };
  readonly approval: Approval | null;
}

/**
 * Decides a mode change. Allowed are the transitions of the mode gate, a reset by the operator, and the reset by the
 * clock after the timeout.
 */
export function decideMode(context: GateContext, request: ModeRequest): Decision<ModePlan> {
  const { specs, view } = context;
  if (view.closed) return makeDenial(context, 'session-closed', {});
  const { modeGate } = specs;
  const from = view.mode;
  if (!modeGate || from === null)
    return makeDenial(context, 'mode-not-allowed', { mode: null, to: String(request.to) });
  const { to } = request;
  const refuse = (why: string, way: ReturnType<typeof modeStepsToGoal> = {}) =>
    makeDenial(context, 'mode-not-allowed', { mode: from, to: String(to), why, ...way });
  if (typeof to !== 'string' || !Object.hasOwn(modeGate.effects, to)) {
    const suggestion = findSimilarName(String(to), listModesOfGate(modeGate));
    return makeDenial(context, 'mode-not-allowed', { mode: from, to: String(to), unknown: true, suggestion });
  }

  if (request.by === 'clock' || request.reset) {
    const how = request.by === 'clock' ? 'timeout' : 'reset';
    if (to !== modeGate.reset) return refuse(`a ${how} leads to ${modeGate.reset}`);
    if (how === 'reset' && request.by !== 'operator') return refuse('only the operator can reset');
    if (from === to) return refuse('the session is in this mode already');
    const facts = collectRequirementFacts(specs, view, [], { by: request.by });
    return { ok: true, plan: { from, to, how, event: { type: how, facts }, approval: null } };
  }

  if (from === to) return refuse('the session is in this mode already');
  const transition = modeGate.transitions.find((candidate) => candidate.from === from && candidate.to === to);
  if (!transition)
    return refuse(
      'the mode gate has no such transition',
      modeStepsToGoal(context, (mode) => mode === to),
    );
  if (transition.summary && !(typeof request.summary === 'string' && request.summary.trim() !== ''))
    return makeDenial(context, 'summary-required', { mode: from, to });
  if (transition.approval) {
    const approvalView = {
      ...(request.exitCriteria === undefined ? {} : { [APPROVAL_FIELD_TITLES.exitCriteria]: request.exitCriteria }),
      ...(request.summary === undefined ? {} : { [APPROVAL_FIELD_TITLES.summary]: request.summary }),
    };
    const refused = checkApproval(context, { kind: 'mode', from, to }, request, approvalView);
    if (refused) return refused;
  }
  const facts = collectRequirementFacts(specs, view, transitionRequirements(transition), {
    by: request.by,
    approved: transition.approval !== null,
    summary: request.summary ?? null,
  });
  return {
    ok: true,
    plan: { from, to, how: 'transition', event: { type: `to.${to}`, facts }, approval: request.approval ?? null },
  };
}
