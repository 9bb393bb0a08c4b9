import type { DelegationBody } from '../../evidence/bodies.ts';
import { getOwn } from '../../spec/names.ts';
import { APPROVAL_FIELD_TITLES } from '../../spec/policy/closed-lists.ts';
import { isSameJson, shortJson } from '../rules/compare-json.ts';
import { contextOfSubAgent } from '../rules/delegate-problems.ts';
import { NEEDS_HISTORY } from '../rules/rule-problem.ts';
import type { CheckContext } from '../verify/check-visits.ts';

/** Checks that a recorded start of a sub-agent was allowed by its parent's peripheral, its context and its approval. */
export function checkDelegation({ state, report, approvals, at }: CheckContext, body: DelegationBody): void {
  const { from, to, within, context, reason, agency } = body;
  const here = state.visit?.spec;
  const wrong = (constraint: string, message: string) =>
    report.violation('delegation', constraint, message, NEEDS_HISTORY);
  approvals.use(body.approval, at, {
    action: { kind: 'delegate', from, to },
    reason,
    view: { [APPROVAL_FIELD_TITLES.context]: { ...context }, [APPROVAL_FIELD_TITLES.changes]: { ...state.changes } },
  });
  if (!here) return;
  if (from !== here.id) wrong(`the session is in ${here.id}`, `the delegation is from ${from}`);
  const listed = (agency ? here.agencies : here.delegates)?.find((each) => each.to === to);
  if (listed && listed.within !== within)
    wrong(`${to}: within ${listed.within}`, `the sub-agent was started within ${within}`);
  const target = agency ? undefined : getOwn(state.pinned.specs.peripherals, to);
  const expected = target && contextOfSubAgent(state, here, target).context;
  if (expected && !isSameJson(expected, context))
    wrong(`context: ${shortJson(expected)}`, `context: ${shortJson(context)}`);
}
