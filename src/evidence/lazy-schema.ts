import { createRequire } from 'node:module';
import { memoise } from '../base/memoise.ts';

type Zod = typeof import('zod')['z'];

/** A schema that is created, and zod imported, at its first use: most processes need no schema. */
export const lazySchema = <T>(make: (z: Zod) => T): (() => T) =>
  memoise(() => make((createRequire(import.meta.url)('zod') as typeof import('zod')).z));
