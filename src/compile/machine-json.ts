import type { Requirement } from '../gate/requirements/requirement.ts';
import type { EnvelopeMeta } from './envelope.ts';

/** Guard of a transition with requirements: their names joined by `and`, and the gate's predicates as data. */
interface GuardJson {
  readonly type: string;
  readonly params: { readonly all: readonly Requirement[] };
}

export interface TransitionJson {
  readonly target: string;
  readonly guard?: GuardJson;
  readonly description?: string;
}

export interface StateJson {
  readonly description?: string;
  readonly type?: 'final';
  /** The tools that may be called in this state; in the mode gate, the allowed effects. */
  readonly tags?: readonly string[];
  readonly meta?: EnvelopeMeta;
  readonly on?: { readonly [event: string]: TransitionJson };
}

/**
 * An xstate v5 machine config as plain JSON: flat states and named guards with params, without context, `invoke`,
 * `after` or actions. It can be stored, drawn, and walked by a path generator.
 */
export interface MachineJson {
  readonly id: string;
  readonly description?: string;
  readonly meta?: EnvelopeMeta;
  readonly initial: string;
  readonly states: { readonly [state: string]: StateJson };
}

/** Returns problems that xstate accepts: a missing initial state or target, transitions of a final state. */
export function findMachineProblems(config: MachineJson): readonly string[] {
  const exists = (state: string) => Object.hasOwn(config.states, state);
  const problems = exists(config.initial) ? [] : [`${config.id}: the initial state "${config.initial}" does not exist`];
  for (const [state, { on = {}, type }] of Object.entries(config.states)) {
    if (type === 'final' && Object.keys(on).length > 0)
      problems.push(`${config.id}.${state}: a final state has transitions`);
    for (const [event, { target }] of Object.entries(on)) {
      if (!exists(target)) problems.push(`${config.id}.${state}.on["${event}"]: the target "${target}" does not exist`);
    }
  }
  return problems;
}

/** The names of a machine's events, guards or tags, sorted, each once. */
export function listMachineNames(config: MachineJson, what: 'events' | 'guards' | 'tags'): readonly string[] {
  const names = Object.values(config.states).flatMap(({ tags = [], on = {} }) => {
    if (what === 'tags') return tags;
    return Object.entries(on).flatMap(([event, { guard }]) => (what === 'events' ? event : (guard?.type ?? [])));
  });
  return [...new Set(names)].sort();
}
