import type { ObservedEffectKind } from '../spec/policy/effect-ops.ts';

/** One change under the root that a backend or its sandbox observed. */
export interface ObservedEffect {
  /** Root-relative, with `/`, normalised; for `ref` the full ref name, for `resource` the name of the resource. */
  readonly path: string;
  readonly op: ObservedEffectKind;
  /** sha256 (hex) of the content before and after, if it existed; for `ref` the object ids. */
  readonly before?: string;
  readonly after?: string;
  /** A warning before the change ships: the file will run outside the sandbox, or the tests are weaker. */
  readonly finding?: string;
}

/** The observed changes; `unobserved` if the call was not watched, which the audit counts as a gap. */
export type ObservedEffects = readonly ObservedEffect[] | 'unobserved';
