import { type Requirement, type RequirementFacts, unmet } from '../gate/requirements/requirement.ts';

/** An event of any hopgate machine. Without facts, only transitions without requirements are open. */
export interface MachineEvent {
  readonly type: string;
  readonly facts?: RequirementFacts;
}

/**
 * Guards of all machines for xstate's `setup({ guards })`. They evaluate the gate's own predicates. A throw means
 * false, so that missing or malformed facts close the transition.
 */
export const guards = {
  requirements: ({ event }: { event: MachineEvent }, { all }: { readonly all: readonly Requirement[] }): boolean => {
    try {
      return event.facts !== undefined && unmet(all, event.facts).length === 0;
    } catch {
      return false;
    }
  },
};
