import type { EffectRecord } from '../evidence/bodies.ts';
import type { ObservedEffectKind } from '../spec/policy/effect-ops.ts';

/** One change under the root that a backend or its sandbox observed. */
export interface ObservedEffect extends EffectRecord {
  readonly op: ObservedEffectKind;
}

/** The observed changes; `unobserved` if the call was not watched, which the audit counts as a gap. */
export type ObservedEffects = readonly ObservedEffect[] | 'unobserved';
