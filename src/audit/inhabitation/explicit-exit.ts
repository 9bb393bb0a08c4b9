import { type CheckResult, type InhabitationFinding, inapplicableCheck, judgedCheck } from './inhabitation-checks.ts';
import type { SessionTimeline } from './session-timeline.ts';

/**
 * P-4: leaving is an act: a validated hop or stop, requested by the agent or the operator. No visit ended in another
 * way, and the session was not closed in the middle of one. The last visit of an open session is not judged.
 */
export function explicitExit({ acts, alignment, stillIn }: SessionTimeline): CheckResult {
  if (!acts.some(({ entered }) => entered !== null))
    return inapplicableCheck('P-4', 'the session entered no peripheral');
  const findings: InhabitationFinding[] = [];
  for (const act of acts)
    if (act.left !== null && alignment.uncalled.includes(act))
      findings.push({ item: null, seq: act.seq, reason: `${act.left} was left for the agent, not by it` });
  const last = acts.at(-1);
  if (stillIn !== null && last?.kind === 'close')
    findings.push({ item: null, seq: last.seq, reason: `the session was closed inside ${stillIn}; no exit was taken` });
  return judgedCheck('P-4', findings);
}
