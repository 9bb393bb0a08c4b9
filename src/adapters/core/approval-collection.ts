import type { AgentAnswer } from './agent-session.ts';

/**
 * Frameworks collect all approvals of a turn before its first call runs. If a call lacks only an approval when it runs,
 * but lacked more when they were collected, the answer asks the model to repeat it in a turn of its own.
 */
export function repeatInOwnTurn(answer: AgentAnswer): AgentAnswer {
  return isUnapproved(answer) ? { ...answer, text: `${answer.text}\n${IN_ITS_OWN_TURN}` } : answer;
}

/** True if the call lacks only an approval, and no person has been asked for it. */
export const isUnapproved = ({ denial }: AgentAnswer): boolean =>
  denial?.code === 'approval-required' && !denial.about.pending && !denial.about.declined;

const IN_ITS_OWN_TURN =
  'The operator is asked about all calls of a turn before the first of them runs. Repeat this call alone in a turn; the operator is then asked about it.';
