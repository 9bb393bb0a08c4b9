import { createRequire } from 'node:module';

type Picomatch = typeof import('picomatch');

let loaded: Picomatch | undefined;

/** picomatch, loaded when it is first asked for. */
export function picomatchLater(): Picomatch {
  loaded ??= createRequire(import.meta.url)('picomatch') as Picomatch;
  return loaded;
}
