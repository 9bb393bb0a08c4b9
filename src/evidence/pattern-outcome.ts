import type { Json } from '../spec/types.ts';

/** How an applied pattern turned out, in one word for all dialects. */
export const PATTERN_OUTCOMES = ['success', 'partial', 'failed', 'pivoted', 'deferred'] as const;
export type PatternOutcome = (typeof PATTERN_OUTCOMES)[number];

const WORDS: { readonly [outcome in PatternOutcome]: readonly string[] } = {
  success: ['success', 'succeeded', 'successful', 'ok', 'held', 'holds', 'worked', 'pass', 'passed', 'confirmed'],
  partial: ['partial', 'partially', 'mixed'],
  failed: ['failed', 'failure', 'fail', 'error', 'refuted'],
  pivoted: ['pivoted', 'pivot'],
  deferred: ['deferred', 'defer', 'postponed'],
};
const FLAGS = ['success?', 'success', 'ok', 'held'];

/**
 * What the body of a pattern's outcome says, in any dialect of it: an `outcome` word (also as a keyword, `:success`), or a flag `success?`,
 * `success`, `ok`, `held`. null: nothing that one could count.
 */
export function patternOutcome(body: Json): PatternOutcome | null {
  if (body === null || typeof body !== 'object' || Array.isArray(body)) return null;
  for (const name of ['outcome', 'pur/outcome', 'status']) {
    const said = wordOf(body[name]);
    if (said) return said;
  }
  for (const name of FLAGS) if (typeof body[name] === 'boolean') return body[name] ? 'success' : 'failed';
  for (const name of ['success', 'success?']) {
    const said = wordOf(body[name]);
    if (said) return said;
  }
  return null;
}

function wordOf(value: Json | undefined): PatternOutcome | null {
  if (typeof value !== 'string') return null;
  const word = value.replace(/^:/, '').trim().toLowerCase();
  return PATTERN_OUTCOMES.find((outcome) => WORDS[outcome].includes(word)) ?? null;
}
