import { memoise } from '../base/lazy.ts';
/** Returns a record that computes each value at first access, because a session seldom visits every peripheral. */
export function lazyRecord<T, U>(
  from: { readonly [name: string]: T },
  build: (value: T) => U,
): { readonly [name: string]: U } {
  const record: { [name: string]: U } = {};
  for (const [name, value] of Object.entries(from))
    Object.defineProperty(record, name, { enumerable: true, get: memoise(() => build(value)) });
  return record;
}
