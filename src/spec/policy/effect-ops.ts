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

export type EffectOp = keyof typeof OP_FACTS;

export const EFFECT_OPS = Object.keys(OP_FACTS) as EffectOp[];

export const FILE_CHANGE_EFFECTS: readonly string[] = EFFECT_OPS.filter((op) => OP_FACTS[op].changesFile);

/** The kinds of observed effects that change no file of the tree. */
export const NON_FILE_EFFECTS: readonly string[] = EFFECT_OPS.filter((op) => !OP_FACTS[op].isFile);
