import { createRequire } from 'node:module';
import { lazy } from '../base/lazy.ts';

type Zod = typeof import('zod')['z'];

/** A schema that is made, and zod loaded, when it is first asked for: a process that makes one decision needs none. */
export const lazySchema = <T>(make: (z: Zod) => T): (() => T) =>
  lazy(() => make((createRequire(import.meta.url)('zod') as typeof import('zod')).z));
