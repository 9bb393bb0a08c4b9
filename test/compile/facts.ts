import { facts as known } from '../../src/compile/guards.ts';
import type { RequirementFacts } from '../../src/gate/requirements/requirement.ts';

/** Facts of an agent with nothing else set. */
export const facts = (some: Partial<RequirementFacts> = {}): RequirementFacts => known({ agent: 'claude', ...some });
