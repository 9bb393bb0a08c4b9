import { describeRequirement, type Requirement } from '../gate/requirement.ts';
import type { TransitionJson } from './machine-json.ts';

/** A transition that needs all of `requirements`, with what they say in words. */
export function guarded(from: string, target: string, requirements: readonly Requirement[]): TransitionJson {
  if (requirements.length === 0) return { target };
  const words = needsInWords(from, requirements);
  return {
    target,
    guard: { type: 'requirements', params: { all: requirements } },
    ...(words.length === 0 ? {} : { description: words.join(', ') }),
  };
}

/** What has to hold when leaving `from`, in words, without what the graph itself settles (`from test`, when leaving test). */
export const needsInWords = (from: string, requirements: readonly Requirement[]): readonly string[] =>
  unsettled(from, requirements).map(describeRequirement);

/** The requirements that the graph itself does not settle when leaving `from`. */
export function unsettled(from: string, requirements: readonly Requirement[]): readonly Requirement[] {
  const isSettled = (need: Requirement) =>
    need.kind === 'source' && (need.any.includes(`from-${from}`) || need.any.includes('from-any'));
  return requirements.filter((need) => !isSettled(need));
}
