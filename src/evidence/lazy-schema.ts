import { createRequire } from 'node:module';
import { memoise } from '../base/memoise.ts';

type Zod = typeof import('zod')['z'];

/** Returns a function that loads zod and creates a schema at its first call: most processes need no schema. */
export const lazySchema = <T>(make: (z: Zod) => T): (() => T) =>
  memoise(() => make((createRequire(import.meta.url)('zod') as typeof import('zod')).z));
