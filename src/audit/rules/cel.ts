import { Environment } from '@marcbachmann/cel-js';
import type { Json } from '../../spec/types.ts';
import type { Fields } from './json.ts';

export interface CelVariables {
  readonly fruit: Fields;
  readonly session: Fields;
  readonly visit: Fields;
  readonly tests: Fields;
  readonly backpack: Fields;
  readonly visits: Fields;
  /** The arguments of a call; empty in any other rule. */
  readonly args: Fields;
}

const environment = ['fruit', 'session', 'visit', 'tests', 'backpack', 'visits', 'args'].reduce(
  (built, name) => built.registerVariable(name, 'map'),
  new Environment(),
);
const parsed = new Map<string, ReturnType<typeof environment.parse>>();

/** Evaluates a rule in CEL. A rule that cannot be evaluated does not hold. */
export function celHolds(rule: string, variables: CelVariables): boolean {
  try {
    let evaluate = parsed.get(rule);
    if (!evaluate) {
      evaluate = environment.parse(rule);
      parsed.set(rule, evaluate);
    }
    return evaluate(asCel({ ...variables } as unknown as Json) as object) === true;
  } catch {
    return false;
  }
}

/** Whole numbers are ints in CEL; a dash in a name is written `_`. */
function asCel(value: Json): unknown {
  if (Array.isArray(value)) return value.map(asCel);
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name.replaceAll('-', '_'), asCel(member)]));
}
