/** A JSON value. Specs, arguments, fruits and bodies of evidence consist of JSON values. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

export type Fields = { readonly [field: string]: Json };

/** Fields with values of any kind, which a session converts to JSON. */
export type AnyFields = { readonly [field: string]: unknown };

/** The type `T`, with `never` in place of each part that is not JSON. */
type JsonPart<T> = T extends Json | undefined
  ? T
  : T extends (...args: never) => unknown
    ? never
    : T extends object
      ? { [Key in keyof T]: JsonPart<T[Key]> }
      : never;

/**
 * Returns a value as JSON. For values whose type is an interface or has read-only lists, which TypeScript does not
 * assign to {@link Json}. A value with a part that JSON cannot express, such as a function, does not compile.
 */
export const asJson = <T extends object | null>(value: T & JsonPart<T>): { [key: string]: Json } | Extract<T, null> =>
  value as { [key: string]: Json };

/** True for an object; null and lists are not objects. */
export function isObject(value: Json | undefined): value is { [field: string]: Json };
export function isObject(value: unknown): value is { readonly [field: string]: unknown };
export function isObject(value: unknown): boolean {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** Returns an object as it is, and an empty one instead of anything else. */
export function fieldsOf(value: Json | undefined): Fields;
export function fieldsOf(value: unknown): { readonly [field: string]: unknown };
export function fieldsOf(value: unknown): { readonly [field: string]: unknown } {
  return isObject(value) ? value : {};
}

/** Sets a field of an object; `__proto__`, too, becomes a field of its own. */
export function setOwnField<T>(fields: { [field: string]: T }, field: string, value: T): void {
  if (field !== '__proto__') fields[field] = value;
  else Object.defineProperty(fields, field, { value, configurable: true, enumerable: true, writable: true });
}

/** Returns a text that is not empty; null for anything else. */
export const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/** Parses JSON; returns `otherwise` (default: undefined) if the text is not JSON. */
export function parseJson(text: string): Json | undefined;
export function parseJson<T>(text: string, otherwise: T): Json | T;
export function parseJson(text: string, otherwise?: unknown): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return otherwise;
  }
}

/** Maximum nesting of a message. Functions that walk a deeper value, as in the MCP SDK, overflow the stack. */
const MAX_MESSAGE_NESTING = 200;

const isDeeperThan = (levels: number, value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((part) => isDeeperThan(levels - 1, part)));

/** Parses a JSON message of another process; undefined if it is not JSON, or nested deeper than 200 levels. */
export function parseJsonMessage(text: string): Json | undefined {
  const value = parseJson(text);
  return value === undefined || isDeeperThan(MAX_MESSAGE_NESTING, value) ? undefined : value;
}

/** Returns a list as it is, and an empty one instead of anything else. */
export const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);

/** True for null, the empty text and the empty list. */
export const isEmptyJson = (value: Json): boolean =>
  value === null || value === '' || (Array.isArray(value) && value.length === 0);

/** Freezes plain data with everything in it, and returns it. A value that is frozen already is not entered. */
export function freezeDeep<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const part of Object.values(value)) freezeDeep(part);
  return value;
}
