import type { AgentAnswer } from './agent-session.ts';

/**
 * Frameworks collect all approvals of a turn before its first call runs. If a call lacks only an approval when it runs,
 * but lacked more when they were collected, the answer asks the model to repeat it in a turn of its own.
 */
export function askedAlone(answer: AgentAnswer): AgentAnswer {
  const { code, about } = answer.denial ?? {};
  if (code !== 'approval-required' || about?.['pending'] || about?.['declined']) return answer;
  return { ...answer, text: `${answer.text}\n${IN_ITS_OWN_TURN}` };
}

const IN_ITS_OWN_TURN =
  'The operator is asked about all calls of a turn before the first of them runs. Repeat this call in a turn of its own: then the operator is asked about it.';
