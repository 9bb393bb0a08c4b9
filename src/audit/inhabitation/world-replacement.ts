import { type DemandFailure, type DemandResult, demandResultOf } from './inhabitation-demands.ts';
import { nameOfAct, type SessionTimeline } from './session-timeline.ts';

/**
 * Judges P-1: the agent acts only through its present peripheral. Every call went through the session, nobody else
 * acted in the agent's name, its transcript has no items of another session, and no visit began during another one.
 */
export function judgeWorldReplacement({
  sessionId,
  transcript,
  calls,
  acts,
  alignment,
}: SessionTimeline): DemandResult {
  const failures: DemandFailure[] = [];
  if (calls.length === 0) failures.push({ item: null, seq: null, reason: 'no call of the agent is on record' });
  for (const item of transcript.items)
    if (item.kind === 'opened' && item.sessionId !== sessionId)
      failures.push({ item: item.n, seq: null, reason: `the item belongs to another session: ${item.sessionId}` });
  for (const { item } of calls)
    if (item.outside) failures.push({ item: item.n, seq: null, reason: `${item.tool} did not go through the session` });
  for (const act of alignment.uncalled)
    failures.push({
      item: null,
      seq: act.seq,
      reason: `${nameOfAct(act)} was done in the agent's name by something else`,
    });
  let inside: string | null = null;
  for (const { seq, left, entered } of acts) {
    if (left !== null) inside = null;
    if (entered === null) continue;
    if (inside !== null)
      failures.push({ item: null, seq, reason: `${entered.peripheral} was entered before ${inside} was left` });
    inside = entered.peripheral;
  }
  return demandResultOf('P-1', failures);
}
