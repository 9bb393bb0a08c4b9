import type { DelegationBody } from '../../evidence/bodies.ts';
import { getOwn } from '../../spec/names.ts';
import { APPROVAL_FIELD_TITLES } from '../../spec/policy/approval-fields.ts';
import { contextOfSubAgent } from '../rules/delegate-problems.ts';
import { NEEDS_HISTORY } from '../rules/rule-problem.ts';
import type { CheckContext } from '../verify/check-visits.ts';

/** Checks that a recorded start of a sub-agent was allowed by its parent's peripheral, its context and its approval. */
export function checkDelegation(body: DelegationBody, { state, report, approvals, at }: CheckContext): void {
  const { from, to, within, context, reason, agency } = body;
  const here = state.visit?.spec;
  approvals.use(body.approval, at, {
    action: { kind: 'delegate', from, to },
    reason,
    view: { [APPROVAL_FIELD_TITLES.context]: { ...context }, [APPROVAL_FIELD_TITLES.changes]: { ...state.changes } },
  });
  if (!here) return;
  report.compare('delegation', "the parent's peripheral", here.id, from, NEEDS_HISTORY);
  const listed = (agency ? here.agencies : here.delegates)?.find((each) => each.to === to);
  if (listed) report.compare('delegation', `"within" of the sub-agent in ${to}`, listed.within, within, NEEDS_HISTORY);
  const target = agency ? undefined : getOwn(state.pinned.specs.peripherals, to);
  const expected = target && contextOfSubAgent(state, here, target).context;
  if (expected) report.compare('delegation', 'the context of the sub-agent', expected, context, NEEDS_HISTORY);
}
