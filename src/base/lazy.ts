/** A value, or a function that computes it: for a part of an object that few readers need. */
export type Lazy<Value extends object> = Value | (() => Value);

export const valueOfLazy = <Value extends object>(lazy: Lazy<Value>): Value =>
  typeof lazy === 'function' ? lazy() : lazy;
