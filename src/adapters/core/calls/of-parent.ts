import type { Denial } from '../../../gate/denial.ts';

/** A refusal by the envelope of the agent that started this one, as it is recorded in the session of this one. */
export const ofParent = (denial: Denial): Denial => ({
  ...denial,
  message: `the agent that started this one may not either: ${denial.message}`,
});
