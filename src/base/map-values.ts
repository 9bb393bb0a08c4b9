/** An object with the same names, and the value that `to` returns for each. */
export const mapValues = <T, U>(
  object: { readonly [name: string]: T },
  to: (value: T, name: string) => U,
): { [name: string]: U } => Object.fromEntries(Object.entries(object).map(([name, value]) => [name, to(value, name)]));
