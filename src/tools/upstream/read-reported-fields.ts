import { type Fields, isObject } from '../../base/json.ts';
import { isValueOfFruitType } from '../../gate/fruit.ts';
import { getOwn } from '../../spec/names.ts';
import type { FruitType, Json, ToolSpec } from '../../spec/types.ts';

/**
 * The fields that a tool declares under `observes` and `state`, from the structured content of its server's answer, in
 * which `_` may replace each `-` of a name. A value of another type becomes null, which means unknown.
 */
export function readReportedFields(
  { observes, state }: ToolSpec,
  structured: Json | undefined,
): { readonly observed?: Fields; readonly state?: Fields } {
  if (structured === undefined || !isObject(structured)) return {};
  return {
    ...(observes ? { observed: pick(observes, structured) } : {}),
    ...(state ? { state: pick(state, structured) } : {}),
  };
}

const pick = (declared: { readonly [field: string]: FruitType }, structured: Fields): Fields =>
  Object.fromEntries(
    Object.entries(declared).flatMap(([field, type]) => {
      const value = getOwn(structured, field) ?? getOwn(structured, field.replaceAll('-', '_'));
      return value === undefined ? [] : [[field, isValueOfFruitType(value, type) ? value : null] as const];
    }),
  );
