import type { AgentAnswer } from './agent-session.ts';

/**
 * Adds to an answer that the call must be repeated in a turn of its own, if it lacks only an approval. Frameworks
 * collect all approvals of a turn before its first call runs; at that time, this call lacked something else too.
 */
export const adviseToRepeatCall = (answer: AgentAnswer): AgentAnswer =>
  isOnlyApprovalMissing(answer) ? { ...answer, text: `${answer.text}\n${IN_ITS_OWN_TURN}` } : answer;

/** True if the call lacks only an approval, and the operator has not been asked for it. */
export const isOnlyApprovalMissing = ({ denial }: AgentAnswer): boolean =>
  denial?.code === 'approval-required' && !denial.about.pending && !denial.about.declined;

const IN_ITS_OWN_TURN =
  'The operator was not asked about this call, because the questions of a turn come before its first call runs. Repeat this call alone in a turn; the operator is then asked about it.';
