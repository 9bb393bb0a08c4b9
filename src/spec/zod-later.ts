import { createRequire } from 'node:module';

type Zod = typeof import('zod')['z'];

/**
 * A schema that is made, and zod loaded, when it is first asked for: where the hot path needs none, whoever starts a process for a single
 * decision does not wait for it.
 */
export function zodLater<T>(make: (z: Zod) => T): () => T {
  let made: { readonly schema: T } | undefined;
  return () => {
    made ??= { schema: make((createRequire(import.meta.url)('zod') as typeof import('zod')).z) };
    return made.schema;
  };
}
