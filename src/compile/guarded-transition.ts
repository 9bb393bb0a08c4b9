import { describeRequirement, type Requirement, requirementGuardName } from '../gate/requirements/requirement.ts';
import type { TransitionJson } from './machine-json.ts';

/** Builds a transition that is guarded by all `requirements`, with their description. */
export function guardedTransition(from: string, target: string, requirements: readonly Requirement[]): TransitionJson {
  if (requirements.length === 0) return { target };
  const words = describeNewRequirements(from, requirements);
  return {
    target,
    guard: { type: nameOf(from, requirements), params: { all: requirements } },
    ...(words.length === 0 ? {} : { description: words.join(', ') }),
  };
}

/** Joins the names of the requirements. A requirement that the graph implies is named only if there are no others. */
function nameOf(from: string, requirements: readonly Requirement[]): string {
  const open = requirementsNotImplied(from, requirements);
  return (open.length === 0 ? requirements : open).map(requirementGuardName).join(' and ');
}

/**
 * Describes the requirements for leaving `from`, without the requirements that the graph implies (`from test` from
 * test).
 */
export const describeNewRequirements = (from: string, requirements: readonly Requirement[]): readonly string[] =>
  requirementsNotImplied(from, requirements).map(describeRequirement);

/** Returns the requirements that the graph does not already imply when leaving `from`. */
export function requirementsNotImplied(from: string, requirements: readonly Requirement[]): readonly Requirement[] {
  const isImplied = (need: Requirement) =>
    need.kind === 'source' && (need.any.includes(`from-${from}`) || need.any.includes('from-any'));
  return requirements.filter((need) => !isImplied(need));
}

/** The property `tags` of a state; no property for an empty list. */
export const tagsProperty = (tags: readonly string[]): { readonly tags?: readonly string[] } =>
  tags.length === 0 ? {} : { tags };
