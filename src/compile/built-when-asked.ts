/** A record whose values are made one by one, when they are first asked for: a session seldom visits every peripheral. */
export function builtWhenAsked<T, U>(
  from: { readonly [name: string]: T },
  build: (value: T) => U,
): { readonly [name: string]: U } {
  const record: { [name: string]: U } = {};
  for (const [name, value] of Object.entries(from))
    Object.defineProperty(record, name, { enumerable: true, get: once(() => build(value)) });
  return record;
}

/** A value that is made when it is first asked for. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
