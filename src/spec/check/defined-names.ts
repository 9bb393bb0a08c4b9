import type { FruitType, ScopeRule, ToolSpec } from '../types.ts';

/** The names that authored files may refer to. Names with faulty definitions are included. */
export interface DefinedSpecNames {
  readonly peripherals: ReadonlySet<string>;
  /** The modes of the mode gate; null without one. */
  readonly modes: readonly string[] | null;
  readonly tools: ReadonlySet<string>;
  readonly catalogue: { readonly [tool: string]: ToolSpec };
  readonly scopeNames: ReadonlySet<string>;
  /** The scopes whose definitions have no problem. */
  readonly scopes: { readonly [name: string]: ScopeRule };
  /** The fields that tools observe, and the fields of session state, by name. */
  readonly reported: {
    readonly observed: { readonly [field: string]: FruitType };
    readonly state: { readonly [field: string]: FruitType };
  };
  /** The names of all entry conditions, with the built-in ones. */
  readonly conditions: ReadonlySet<string>;
  /** The values of each peripheral's observed fruit fields that have a list of values. */
  readonly fruitValues: { readonly [peripheral: string]: readonly string[] };
  /** Fruit fields by peripheral; null if the file of the peripheral cannot be read. */
  readonly fruitFields: { readonly [peripheral: string]: readonly string[] | null };
}
