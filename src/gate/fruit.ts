import { isObject } from '../base/json.ts';
import { getOwn } from '../spec/names.ts';
import type { Fields, FruitType, Json, PeripheralSpec } from '../spec/types.ts';

export type Fruit = Fields;
type FruitProblem = { readonly field: string; readonly problem: string; readonly isMissing?: true };

export const describeFruitType = (type: FruitType): string =>
  typeof type === 'string' ? type : `one of ${type.join(', ')}`;

/** Fields to state, as remedies write them: `fruit: {"note": "…"}`. */
export const describeFruitToState = (fields: readonly string[]): string =>
  `fruit: {${fields.map((field) => `"${field}": "…"`).join(', ')}}`;

const IS_OF_TYPE: { readonly [Type in Extract<FruitType, string>]: (value: Json) => boolean } = {
  string: (value) => typeof value === 'string',
  integer: Number.isSafeInteger,
  number: (value) => typeof value === 'number',
  boolean: (value) => typeof value === 'boolean',
  list: Array.isArray,
  object: isObject,
};

export const isValueOfFruitType = (value: Json, type: FruitType): boolean =>
  typeof type === 'string' ? IS_OF_TYPE[type](value) : typeof value === 'string' && type.includes(value);

/** The problem of a stated fruit field; null if none. An observed field may be stated only with its observed value. */
function fieldProblem(spec: PeripheralSpec, field: string, value: Json, observed: Fruit): string | null {
  const rule = getOwn(spec.fruit, field);
  if (!rule)
    return `${spec.id} yields no field of this name (it yields: ${Object.keys(spec.fruit).join(', ') || 'none'})`;
  if (rule.kind === 'observed') {
    return JSON.stringify(observed[field] ?? null) === JSON.stringify(value)
      ? null
      : 'hopgate computes this field from what happened, so leave it out';
  }
  return isValueOfFruitType(value, rule.type) ? null : `the value must be ${describeFruitType(rule.type)}`;
}

/**
 * The fruit that a visit would yield if it ended now: the observed fields joined with the agent's stated fields.
 * Reports every problem at once. An observed field without an observation is null (zero test runs: `result` is null,
 * not a pass).
 */
export function predictVisitFruit(
  spec: PeripheralSpec,
  observed: Fruit,
  stated: Fruit,
): { readonly fruit: Fruit; readonly problems: readonly FruitProblem[] } {
  const problems: FruitProblem[] = [];
  const fruit: Record<string, Json> = {};
  for (const [field, rule] of Object.entries(spec.fruit)) {
    if (rule.kind === 'observed') fruit[field] = observed[field] ?? null;
    else if (Object.hasOwn(stated, field)) fruit[field] = stated[field] ?? null;
    else if (!rule.optional)
      problems.push({
        field,
        problem: `the field is missing; state it (${describeFruitType(rule.type)})`,
        isMissing: true,
      });
  }
  for (const [field, value] of Object.entries(stated)) {
    const problem = fieldProblem(spec, field, value, observed);
    if (problem) problems.push({ field, problem });
  }
  return { fruit, problems };
}

/** The fields that a fruit adds to the backpack: all that are not null. */
export function backpackFieldsOf(fruit: Fruit): Fruit {
  return Object.fromEntries(Object.entries(fruit).filter(([, value]) => value !== null));
}
