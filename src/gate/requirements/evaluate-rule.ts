import { createRequire } from 'node:module';
import type { Environment } from '@marcbachmann/cel-js';
import { getOrInsert } from '../../base/get-or-insert.ts';
import { memoise } from '../../base/lazy.ts';
import { addLinearMatchesToCel, parseCelRule } from '../../spec/linear-regex.ts';
import type { Fields, Json } from '../../spec/types.ts';

/** The facts that a CEL rule can read: a map for each root. Their names have `_` instead of `-`. */
export type CelFacts = Readonly<Record<(typeof ROOTS)[number], Fields>>;
/** `args` has the arguments of a call; for any other rule it is empty. */
const ROOTS = ['fruit', 'session', 'visit', 'tests', 'backpack', 'visits', 'args'] as const;

const programs = new Map<string, (facts: object) => unknown>();

/** The CEL evaluator. The first rule loads it: loading takes time, and most decisions have no rule. */
const evaluator = memoise((): Environment => {
  const cel = createRequire(import.meta.url)('@marcbachmann/cel-js') as typeof import('@marcbachmann/cel-js');
  return ROOTS.reduce((made, root) => made.registerVariable(root, 'map'), addLinearMatchesToCel(new cel.Environment()));
});

/**
 * Converts JSON to CEL values: whole numbers become ints, and `-` in names becomes `_`. Throws if two names become the
 * same, because a rule would judge one value and the tool could use the other.
 */
function celValue(value: Json): unknown {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(celValue);
  if (value === null || typeof value !== 'object') return value;
  const named = new Map(Object.entries(value).map(([key, item]) => [key.replaceAll('-', '_'), celValue(item)]));
  if (named.size < Object.keys(value).length) throw new Error('two names differ only in "-" and "_"');
  return Object.fromEntries(named);
}

/**
 * Evaluates a CEL rule over the facts. If a rule cannot be evaluated (an absent fact, a wrong type), it does not hold,
 * so the request is refused. Pure; compiled programs are cached by their text.
 */
export function evaluateRule(cel: string, facts: CelFacts): boolean {
  const parser = evaluator();
  try {
    const program = getOrInsert(programs, cel, () => parseCelRule(parser, cel));
    const values = Object.fromEntries(ROOTS.map((root) => [root, celValue({ ...facts[root] })]));
    // A peripheral that a rule names and that was not visited yet has 0 visits. Other facts may be absent.
    const unvisited = Object.fromEntries(cel.match(/\w+/g)?.map((word) => [word, 0n]) ?? []);
    return program({ ...values, visits: { ...unvisited, ...Object(values['visits']) } }) === true;
  } catch {
    return false;
  }
}
