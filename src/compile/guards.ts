import { type Requirement, type RequirementFacts, unmetRequirements } from '../gate/requirements/requirement.ts';

/** An event of any hopgate machine. An event without facts opens only transitions without requirements. */
export interface MachineEvent<Type extends string = string> {
  readonly type: Type;
  readonly facts?: RequirementFacts;
}

/** An event whose transitions all have requirements. Without facts, the event opens none of them. */
export interface GuardedEvent<Type extends string> extends MachineEvent<Type> {
  readonly facts: RequirementFacts;
}

/** Evaluates requirements by the gate's predicates. A throw means false: missing facts close a transition. */
export function allRequirementsHold(
  { event }: { event: MachineEvent },
  { all }: { readonly all: readonly Requirement[] },
): boolean {
  try {
    return event.facts !== undefined && unmetRequirements(all, event.facts).length === 0;
  } catch {
    return false;
  }
}

/**
 * Returns the guards of a machine for xstate's `setup({ guards })`, by their names in its config.
 * @example const machine = setup({ guards: guards('tests-passed', 'approval:operator') })
 */
export const guards = <const Name extends string>(
  ...names: readonly Name[]
): Record<Name, typeof allRequirementsHold> =>
  Object.fromEntries(names.map((name) => [name, allRequirementsHold])) as Record<Name, typeof allRequirementsHold>;

const NOTHING: RequirementFacts = {
  by: 'agent',
  source: null,
  agent: '',
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

/**
 * Returns the facts of an event; facts that are not given do not hold.
 * @example const event = { type: 'pass.deploy', facts: facts({ source: 'test', fruit: { result: 'pass' } }) };
 */
export const facts = (stated: Partial<RequirementFacts> = {}): RequirementFacts => ({ ...NOTHING, ...stated });
