import type { RequirementFacts } from '../../src/gate/requirements/requirement.ts';

const NOTHING: RequirementFacts = {
  by: 'agent',
  source: null,
  agent: 'claude',
  firstVisit: false,
  atSessionClose: false,
  naturalClose: false,
  fruit: {},
  conditions: {},
  when: {},
  approved: false,
  summary: null,
  patterns: {},
};

/** Facts of an agent of whom nothing else is so. */
export const facts = (some: Partial<RequirementFacts> = {}): RequirementFacts => ({ ...NOTHING, ...some });
