import type { Body, ModeBody } from '../../evidence/bodies.ts';
import { APPROVAL_FIELD_TITLES } from '../../spec/policy/approval-fields.ts';
import { toJudgedState } from '../rules/judged-state.ts';
import { NEEDS_HISTORY } from '../rules/rule-problem.ts';
import { checkEntryFacts } from './check-facts.ts';
import type { CheckContext } from './check-visits.ts';

/** Compares a change of mode with the mode before it, the gate's time limit, its approval and its facts. */
export function checkMode(body: ModeBody, { state, report, approvals, at }: CheckContext): void {
  const { from, to, how, by, summary } = body;
  const wrong = report.reporterOf('mode');
  const { modeGate } = state.pinned.specs;
  if (!modeGate) return;
  if (state.mode !== null && from !== state.mode)
    wrong(`the change must start from mode ${state.mode}`, `the recorded change starts from ${from}`);
  if ((how === 'timeout') !== (by === 'clock'))
    wrong('the clock may only time out a mode', `a ${how} is recorded as made by the ${by}`);
  const { timeoutMinutes } = modeGate;
  if (how === 'timeout' && (timeoutMinutes === null || at - state.activeAt < timeoutMinutes * 60_000))
    wrong(`timeout-minutes: ${timeoutMinutes ?? 'none'}`, 'the mode timed out too early');
  const transition = modeGate.transitions.find((one) => one.from === from && one.to === to);
  approvals.use(body.approval, at, {
    action: { kind: 'mode', from, to },
    reason: body.reason ?? '',
    view: {
      ...(body.exitCriteria === null ? {} : { [APPROVAL_FIELD_TITLES.exitCriteria]: body.exitCriteria }),
      ...(summary === null ? {} : { [APPROVAL_FIELD_TITLES.summary]: summary }),
    },
  });
  const approved = how === 'transition' && transition?.approval === 'operator';
  const decided = { approved, summary: how === 'transition' ? summary : null };
  checkEntryFacts(body.facts, toJudgedState(state, by), decided, report);
}

/** The events that are recorded right after their decision. `step` is not: it is recorded when its tool has ended. */
const DECIDED: readonly Body['event'][] = ['start', 'intent', 'stop', 'mode', 'delegation', 'session-closed'];
/** Maximum time between a decision and its entry: the observation of a large working tree, for example, takes time. */
const DECISION_MS = 60_000;

/** Reports a decision in a mode whose time limit has passed, if the change of mode by the clock is not recorded. */
export function checkIdleMode(body: Body, { state, report, at }: Pick<CheckContext, 'state' | 'report' | 'at'>): void {
  const { modeGate } = state.pinned.specs;
  const limit = (modeGate?.timeoutMinutes ?? Number.POSITIVE_INFINITY) * 60_000;
  if (state.mode === null || state.mode === modeGate?.reset || at - state.activeAt < limit + DECISION_MS) return;
  if (!DECIDED.includes(body.event) || (body.event === 'mode' && body.how === 'timeout')) return;
  const message = `${body.event} came in ${state.mode}, although this mode had timed out`;
  report.violation('mode', `timeout-minutes: ${modeGate?.timeoutMinutes}`, message, NEEDS_HISTORY);
}
