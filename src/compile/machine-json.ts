import type { Requirement } from '../gate/requirements/requirement.ts';

/** Guard of a transition with requirements: the gate's predicates as data. */
interface GuardJson {
  readonly type: 'requirements';
  readonly params: { readonly all: readonly Requirement[] };
}

export interface TransitionJson {
  readonly target: string;
  readonly guard?: GuardJson;
  /** The requirements in words. */
  readonly description?: string;
}

export interface StateJson {
  readonly description?: string;
  readonly type?: 'final';
  readonly on?: { readonly [event: string]: TransitionJson };
}

/**
 * An xstate v5 machine config as plain JSON: flat states and named guards with params, without context, `invoke`,
 * `after` or actions. It can be stored, drawn, and walked by a path generator.
 */
export interface MachineJson {
  readonly id: string;
  readonly description?: string;
  readonly initial: string;
  readonly states: { readonly [state: string]: StateJson };
}

/** Returns the problems that xstate accepts: a missing initial state or target, and a guard without a function. */
export function machineProblems(config: MachineJson, guardNames: readonly string[]): readonly string[] {
  const known = (state: string) => Object.hasOwn(config.states, state);
  const problems = known(config.initial) ? [] : [`${config.id}: the initial state "${config.initial}" is not there`];
  for (const [state, { on = {}, type }] of Object.entries(config.states)) {
    if (type === 'final' && Object.keys(on).length > 0)
      problems.push(`${config.id}.${state}: a final state has transitions`);
    for (const [event, { target, guard }] of Object.entries(on)) {
      const at = `${config.id}.${state}.on["${event}"]`;
      if (!known(target)) problems.push(`${at}: the target "${target}" is not there`);
      if (guard && !guardNames.includes(guard.type)) problems.push(`${at}: there is no guard "${guard.type}"`);
    }
  }
  return problems;
}
