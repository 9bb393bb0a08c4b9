import { type DemandFailure, type DemandResult, demandResultOf, inapplicableDemand } from './inhabitation-demands.ts';
import type { SessionTimeline } from './session-timeline.ts';

/** Judges P-4: each visit ended by a hop or stop that the agent or the operator requested. The last one may be open. */
export function judgeExplicitExit({ acts, alignment, stillIn }: SessionTimeline): DemandResult {
  if (!acts.some(({ entered }) => entered !== null))
    return inapplicableDemand('P-4', 'the session entered no peripheral');
  const failures: DemandFailure[] = [];
  for (const act of acts)
    if (act.left !== null && alignment.uncalled.includes(act))
      failures.push({ item: null, seq: act.seq, reason: `the agent did not request to leave ${act.left}` });
  const last = acts.at(-1);
  if (stillIn !== null && last?.kind === 'close')
    failures.push({ item: null, seq: last.seq, reason: `the session was closed inside ${stillIn}; no exit was taken` });
  return demandResultOf('P-4', failures);
}
