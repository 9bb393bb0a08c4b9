import { isDeepStrictEqual } from 'node:util';
import type { FruitType, Json } from '../../spec/types.ts';

/** True for the same JSON: the order of members does not matter. */
export const isSameJson = (a: unknown, b: unknown): boolean => isDeepStrictEqual(a, b);

export function hasFruitType(value: Json, type: FruitType): boolean {
  if (Array.isArray(type)) return type.includes(value as string);
  const kinds: { readonly [name: string]: boolean } = {
    string: typeof value === 'string',
    integer: Number.isSafeInteger(value),
    number: typeof value === 'number',
    boolean: typeof value === 'boolean',
    list: Array.isArray(value),
    object: value !== null && typeof value === 'object' && !Array.isArray(value),
  };
  return kinds[type as string] === true;
}

/** A value for a message, cut to a readable length. */
export function shortJson(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}
