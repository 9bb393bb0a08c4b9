/** A value, or a function that computes it: for a part of an object that few readers need. */
export type Lazy<Value extends object> = Value | (() => Value);

export const valueOfLazy = <Value extends object>(lazy: Lazy<Value>): Value =>
  typeof lazy === 'function' ? lazy() : lazy;

/** Memoises a function without arguments. */
export function memoise<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
