import { type Inhabitation, type InhabitationFinding, judged, notApplicable } from './finding.ts';
import type { Life } from './life.ts';

/**
 * P-4: leaving is an act: a validated hop or stop, requested by the agent or the operator. No visit ended in another
 * way, and the last one was not abandoned: either it was left, or nothing happened in it after the hop that entered it.
 */
export function explicitExit({ acts, alignment, stillIn }: Life): Inhabitation {
  if (!acts.some(({ entered }) => entered !== null)) return notApplicable('P-4', 'the session entered no peripheral');
  const findings: InhabitationFinding[] = [];
  for (const act of acts)
    if (act.left !== null && alignment.uncalled.includes(act))
      findings.push({ item: null, seq: act.seq, reason: `${act.left} was left for the agent, not by it` });
  const last = acts.findLast(({ kind }) => kind !== 'close');
  const hopped = last?.kind === 'hop' && !last.refused;
  if (stillIn !== null && !hopped)
    findings.push({
      item: null,
      seq: last?.seq ?? null,
      reason: `the session breaks off inside ${stillIn}; nobody left it`,
    });
  return judged('P-4', findings);
}
