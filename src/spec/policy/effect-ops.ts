interface OpFacts {
  readonly changesFile: boolean;
  /** True if the effect changes a file of the tree. */
  readonly isFile: boolean;
}

/** The properties of each kind of observed effect. */
const OP_FACTS = {
  read: { changesFile: false, isFile: true },
  create: { changesFile: true, isFile: true },
  modify: { changesFile: true, isFile: true },
  delete: { changesFile: true, isFile: true },
  mode: { changesFile: true, isFile: true },
  link: { changesFile: true, isFile: true },
  execute: { changesFile: false, isFile: true },
  ref: { changesFile: false, isFile: false },
  connect: { changesFile: false, isFile: false },
  resource: { changesFile: false, isFile: false },
} as const satisfies { readonly [op: string]: OpFacts };

export type ObservedEffectKind = keyof typeof OP_FACTS;

export type FileChangeEffectKind = {
  [op in ObservedEffectKind]: (typeof OP_FACTS)[op]['changesFile'] extends true ? op : never;
}[ObservedEffectKind];

export const OBSERVED_EFFECT_KINDS = Object.keys(OP_FACTS) as ObservedEffectKind[];

export const FILE_CHANGE_EFFECT_KINDS: readonly string[] = OBSERVED_EFFECT_KINDS.filter(
  (op) => OP_FACTS[op].changesFile,
);

export const NON_FILE_EFFECT_KINDS: readonly string[] = OBSERVED_EFFECT_KINDS.filter((op) => !OP_FACTS[op].isFile);
