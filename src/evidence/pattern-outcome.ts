import type { Json } from '../spec/types.ts';
import { type PatternOutcome, readPur } from './pur.ts';

export type { PatternOutcome } from './pur.ts';

/**
 * What the body of a pattern's outcome says, in any dialect of it: an outcome word (also as a keyword, `:success`), or a flag `success?`,
 * `success`, `ok`, `held`. null: nothing that one could count.
 */
export const patternOutcome = (body: Json): PatternOutcome | null => readPur(body)?.outcome ?? null;
