import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';

/**
 * Compiles a regular expression that is searched in time proportional to the text. JavaScript's own engine backtracks:
 * `(a+)+$` and an agent's argument could stop hopgate for hours. The first pattern loads the engine.
 * @throws Error if it is not a regular expression of RE2, which has no lookahead, lookbehind or reference to a group
 */
export function linearRegex(pattern: string): RE2JS {
  const { RE2JS: engine } = createRequire(import.meta.url)('re2js') as typeof import('re2js');
  return engine.compile(engine.translateRegExp(pattern));
}

/** Ajv's engine for `pattern` in JSON Schemas: RE2, or JavaScript's engine for what RE2 lacks, such as a lookahead. */
export const schemaRegex = Object.assign(
  (pattern: string, flags: string) => {
    try {
      return linearRegex(pattern);
    } catch {
      return new RegExp(pattern, flags);
    }
  },
  { code: 'schemaRegex' },
);
