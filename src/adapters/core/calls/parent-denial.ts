import type { Denial } from '../../../gate/denial.ts';

/** A refusal by the parent agent's envelope, as it is recorded in the sub-agent's session. */
export const describeParentDenial = (denial: Denial): Denial => ({
  ...denial,
  message: `the agent that started you may not do this: ${denial.message}`,
});
