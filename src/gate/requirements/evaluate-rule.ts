import { createRequire } from 'node:module';
import type { Environment } from '@marcbachmann/cel-js';
import { getOrInsert } from '../../base/get-or-insert.ts';
import { memoise } from '../../base/lazy.ts';
import { errorText } from '../../base/text.ts';
import { addRuleFunctions, parseCelRule } from '../../spec/cel-environment.ts';
import type { Fields, Json } from '../../spec/types.ts';

/** The facts that a CEL rule can read: a map for each variable of {@link ROOTS}. Names have `_` instead of `-`. */
export type CelFacts = Readonly<Record<(typeof ROOTS)[number], Fields>>;
/** `args` has the arguments of a call; for any other rule it is empty. */
const ROOTS = ['fruit', 'session', 'visit', 'tests', 'backpack', 'visits', 'args'] as const;

const programs = new Map<string, (facts: object) => unknown>();

/** The CEL evaluator. The first rule loads it: loading takes time, and most decisions have no rule. */
const evaluator = memoise((): Environment => {
  const cel = createRequire(import.meta.url)('@marcbachmann/cel-js') as typeof import('@marcbachmann/cel-js');
  return ROOTS.reduce((made, root) => made.registerVariable(root, 'map'), addRuleFunctions(new cel.Environment()));
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
  try {
    return valueOfRule(cel, facts) === true;
  } catch {
    return false;
  }
}

/** @throws if the rule cannot be evaluated */
function valueOfRule(cel: string, facts: CelFacts): unknown {
  const parser = evaluator();
  const program = getOrInsert(programs, cel, () => parseCelRule(parser, cel));
  const values = Object.fromEntries(ROOTS.map((root) => [root, celValue({ ...facts[root] })]));
  // A peripheral that a rule names and that was not visited yet has 0 visits. Other facts may be absent.
  const unvisited = Object.fromEntries(cel.match(/\w+/g)?.map((word) => [word, 0n]) ?? []);
  return program({ ...values, visits: { ...unvisited, ...Object(values['visits']) } });
}

/**
 * Explains why a rule cannot be evaluated, as the end of a sentence: `: fruit.note has no value`. Empty if it is
 * evaluated, or if the reason is unknown.
 */
export function explainRule(cel: string, facts: CelFacts): string {
  try {
    valueOfRule(cel, facts);
    return '';
  } catch (error) {
    const rule = cel.replace(/"[^"]*"|'[^']*'/g, '""');
    const valueIn = (fields: Fields, name: string) =>
      Object.entries(fields).find(([field]) => field.replaceAll('-', '_') === name)?.[1] ?? null;
    const absent = new Map(
      rule
        .matchAll(/\b(fruit|backpack|args)\.(\w+)/g)
        .map(([fact, root, name]) => [fact, { root: root as 'fruit' | 'backpack' | 'args', name: name! }] as const)
        .filter(([, { root, name }]) => valueIn(facts[root], name) === null),
    );
    if (absent.size === 0)
      return `: it cannot be evaluated (${(error as { summary?: string }).summary ?? errorText(error)})`;
    // A fruit joins the backpack with the hop, so a rule of this hop does not find it there.
    const isLate = [...absent.values()].some(
      ({ root, name }) => root === 'backpack' && valueIn(facts.fruit, name) !== null,
    );
    const names = [...absent.keys()].join(' and ');
    return `: ${names} ${absent.size === 1 ? 'has' : 'have'} no value${isLate ? ', because the fruit of this visit joins the backpack only at its end' : ''}`;
  }
}
