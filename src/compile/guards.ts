import { type Requirement, type RequirementFacts, unmet } from '../gate/requirement.ts';

/** An event of any of our machines. Without facts, only transitions that need nothing are open. */
export interface MachineEvent {
  readonly type: string;
  readonly facts?: RequirementFacts;
}

/**
 * The guards of every machine, for xstate's `setup({ guards })`: one, which asks the gate's own predicates. A throw means false, so that
 * missing or malformed facts close the way.
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
