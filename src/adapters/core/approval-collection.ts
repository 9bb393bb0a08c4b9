import type { AgentAnswer } from './agent-session.ts';

/**
 * What came of a call that was not in order yet when the calls of its turn were put to a person, as frameworks do before the first of them runs.
 * Where by now nothing but the approval is missing, the model is told how a person comes to be asked.
 */
export function askedAlone(answer: AgentAnswer): AgentAnswer {
  const { code, about } = answer.denial ?? {};
  if (code !== 'approval-required' || about?.['pending'] || about?.['declined']) return answer;
  return { ...answer, text: `${answer.text}\n${IN_ITS_OWN_TURN}` };
}

const IN_ITS_OWN_TURN =
  'The calls of one turn are put to the operator before the first of them runs. Make this call again, in a turn of its own: then it is put to them.';
