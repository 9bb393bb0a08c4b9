import type { RequestOfKind } from './audit-request.ts';
import type { AuditState } from './audit-state.ts';
import { makeProblemCollector, makeRuleProblem, NEEDS_HISTORY, type RuleProblem } from './rule-problem.ts';

/** The problems of a change of mode: it must follow a transition of the mode gate, or lead to the reset mode. */
export function modeProblems({ pinned, mode }: AuditState, request: RequestOfKind<'mode'>): readonly RuleProblem[] {
  const { modeGate } = pinned.specs;
  const { to, by, reset = false } = request;
  const refused = (constraint: string, message: string) =>
    makeRuleProblem('mode-not-allowed', 'mode', constraint, message);
  if (!modeGate || mode === null) return [refused('no mode gate', `the mode was changed to ${to}`)];
  const modes = Object.keys(modeGate.effects);
  if (!modes.includes(to)) return [refused(`modes: ${modes.join(', ')}`, `${to} is not a mode`)];
  const { found, add } = makeProblemCollector();
  if (reset || by === 'clock') {
    const how = reset ? 'reset' : 'timeout';
    if (to !== modeGate.reset) found.push(refused(`reset: ${modeGate.reset}`, `a ${how} changed the mode to ${to}`));
    if (reset && by === 'agent')
      found.push(refused('only the operator resets the mode', `the reset was made by the ${by}`));
    if (mode === to) found.push(refused('a change of mode leads to another mode', `${mode} → ${to}`));
    return found;
  }
  if (mode === to) return [refused('a change of mode leads to another mode', `${mode} → ${to}`)];
  const transition = modeGate.transitions.find((one) => one.from === mode && one.to === to);
  if (!transition) {
    const listed = modeGate.transitions.map((one) => `${one.from} → ${one.to}`).join(', ');
    return [refused(`transitions: ${listed}`, `${mode} → ${to}`)];
  }
  if (transition.summary && (request.summary ?? '').trim() === '')
    add('summary-required', 'mode', `${mode} → ${to}: a summary`, 'the summary is missing');
  if (transition.approval && !request.approves)
    add('approval-required', 'approval', 'approval: operator', 'the change of mode was not approved', NEEDS_HISTORY);
  return found;
}
