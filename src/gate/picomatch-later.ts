import { createRequire } from 'node:module';

type Picomatch = typeof import('picomatch');

let loaded: Picomatch | undefined;

/** picomatch, loaded when it is first asked for: most masks need none (see {@link plainMask}). */
export function picomatchLater(): Picomatch {
  loaded ??= createRequire(import.meta.url)('picomatch') as Picomatch;
  return loaded;
}
