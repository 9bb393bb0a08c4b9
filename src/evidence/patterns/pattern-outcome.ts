import type { Json } from '../../spec/types.ts';
import { type PatternOutcome, readPur } from './pur.ts';

export type { PatternOutcome } from './pur.ts';

/**
 * Reads a pattern's outcome from a body in any dialect: an outcome word (also as a keyword, `:success`), or a flag
 * `success?`, `success`, `ok`, `held`. Returns null if there is none.
 */
export const patternOutcome = (body: Json): PatternOutcome | null => readPur(body)?.outcome ?? null;
