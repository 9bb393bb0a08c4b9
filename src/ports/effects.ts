/** One change that a backend or its sandbox saw happen, beneath the root. */
export interface ObservedEffect {
  /** Root-relative, with `/`, normalised; for `ref` the full ref name. */
  readonly path: string;
  readonly op: 'read' | 'create' | 'modify' | 'delete' | 'mode' | 'link' | 'ref' | 'execute' | 'connect';
  /** sha256 (hex) of the content before and after, where there was one; for `ref` the object ids. */
  readonly before?: string;
  readonly after?: string;
}

/** What was seen to change. `unobserved` when nobody watched: the audit counts that as a gap, never as clean. */
export type ObservedEffects = readonly ObservedEffect[] | 'unobserved';
