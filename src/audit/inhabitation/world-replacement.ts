import { type CheckResult, type InhabitationFinding, judgedCheck } from './inhabitation-checks.ts';
import { nameOfAct, type SessionTimeline } from './session-timeline.ts';

/**
 * P-1: the peripheral is the agent's only surface, one at a time. Every call went through the session, nobody else
 * acted in the agent's name, no other session's items are in its stream, and no visit began within another.
 */
export function worldReplacement({ sessionId, transcript, calls, acts, alignment }: SessionTimeline): CheckResult {
  const findings: InhabitationFinding[] = [];
  if (calls.length === 0)
    findings.push({
      item: null,
      seq: null,
      reason: 'no call of the agent is on record',
    });
  for (const item of transcript.items)
    if (item.kind === 'opened' && item.sessionId !== sessionId)
      findings.push({ item: item.n, seq: null, reason: `another world: session ${item.sessionId}` });
  for (const { item } of calls)
    if (item.outside) findings.push({ item: item.n, seq: null, reason: `${item.tool} did not go through the session` });
  for (const act of alignment.uncalled)
    findings.push({
      item: null,
      seq: act.seq,
      reason: `${nameOfAct(act)} was done in the agent's name by something else`,
    });
  let inside: string | null = null;
  for (const { seq, left, entered } of acts) {
    if (left !== null) inside = null;
    if (entered === null) continue;
    if (inside !== null)
      findings.push({ item: null, seq, reason: `${entered.peripheral} was entered before ${inside} was left` });
    inside = entered.peripheral;
  }
  return judgedCheck('P-1', findings);
}
