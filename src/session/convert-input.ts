import { setOwnField } from '../base/json.ts';
import { type Json, PRINCIPALS, type Principal } from '../spec/types.ts';

/**
 * Converts a caller's value to plain JSON, so that it can be judged and recorded. A value that JSON cannot express (a
 * function, a cycle, a bigint, NaN, an unpaired surrogate) becomes a text that names it. As in JSON, the `toJSON` of a
 * value (a date) replaces it, and `undefined` members are left out.
 */
export const toPlainJson = (value: unknown): Json => plainJson(value, []);

/** @param above the lists and objects that contain the value, to detect cycles */
function plainJson(value: unknown, above: object[]): Json {
  switch (typeof value) {
    case 'string':
      return value.toWellFormed();
    case 'boolean':
      return value;
    case 'number':
      // JSON writes -0 as 0, so the value in memory must be 0 too: a resumed session must equal the live one.
      return Number.isFinite(value) ? value + 0 : `[${value}]`;
    case 'object':
      break;
    default:
      return `[${typeof value}${typeof value === 'bigint' ? ` ${value}` : ''}]`;
  }
  if (value === null) return null;
  if (above.includes(value)) return '[cycle]';
  if (above.length >= MAX_DEPTH) return '[too deep]';
  above.push(value);
  // `Array.from`, because `map` would leave the holes of a sparse list.
  const copy = Array.isArray(value) ? Array.from(value, (item) => plainJson(item, above)) : plainObject(value, above);
  above.pop();
  return copy;
}

function plainObject(value: object, above: object[]): Json {
  if ('toJSON' in value && typeof value.toJSON === 'function') return plainJson(value.toJSON(), above);
  if (value instanceof Map || value instanceof Set) return `[${value.constructor.name}]`;
  const copy: { [key: string]: Json } = {};
  for (const key of Object.keys(value)) {
    const item = (value as { readonly [key: string]: unknown })[key];
    if (item !== undefined) setOwnField(copy, key.toWellFormed(), plainJson(item, above));
  }
  return copy;
}

const MAX_DEPTH = 64;

/** Converts a caller's value to text: a string stays, null and undefined become '', anything else becomes JSON. */
export function toText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value.toWellFormed() : JSON.stringify(toPlainJson(value));
}

/** Reads the principal of a request. An unknown value counts as the agent, which has the fewest rights. */
export const toPrincipal = (value: unknown): Principal =>
  PRINCIPALS.find((principal) => principal === value) ?? 'agent';
