import { createRequire } from 'node:module';

/** Creates a value at its first use, and caches it. */
function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

type Zod = typeof import('zod')['z'];

/** A schema that is created, and zod imported, at its first use: most processes need no schema. */
export const lazySchema = <T>(make: (z: Zod) => T): (() => T) =>
  lazy(() => make((createRequire(import.meta.url)('zod') as typeof import('zod')).z));
