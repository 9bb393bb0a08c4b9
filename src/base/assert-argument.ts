import { isObject } from './json.ts';

/**
 * Refuses a wrong argument of a function that other programs call.
 * @param form the correct form, as in "must be …"
 * @throws TypeError with the argument's name, its correct form and the kind of the value
 */
export function assertArgument(isRight: boolean, name: string, form: string, value: unknown): void {
  if (!isRight) throw new TypeError(`${name} must be ${form}, not ${nameValue(value)}`);
}

function nameValue(value: unknown): string {
  if (value instanceof Promise) return 'a promise: write "await" before the call that returned it';
  if (typeof value === 'string') return value === '' ? 'an empty text' : `"${value.slice(0, 100)}"`;
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'function') return 'a function';
  return value !== null && typeof value === 'object' ? 'an object of another kind' : String(value);
}

/** True if a value has all these methods. */
export const hasMethods = (value: unknown, ...names: readonly string[]): boolean =>
  names.every(
    (name) => typeof (value as { readonly [name: string]: unknown } | null | undefined)?.[name] === 'function',
  );

/** The form of a value: a test and its description, or the forms of an object's fields. */
export type ArgumentForm = readonly [(value: unknown) => boolean, string] | { readonly [field: string]: ArgumentForm };

/** For some methods: the form of each argument, by its name and in the order of the arguments. */
export type MethodForms<T> = { readonly [Method in keyof T]?: { readonly [argument: string]: ArgumentForm } };

/** @throws TypeError with the path of the first wrong value */
export function assertForm(path: string, form: ArgumentForm, value: unknown): void {
  if (Array.isArray(form)) return assertArgument(form[0](value), path, form[1], value);
  assertArgument(isObject(value), path, 'an object', value);
  for (const [field, inner] of Object.entries(form as { readonly [field: string]: ArgumentForm }))
    assertForm(`${path}.${field}`, inner, (value as { readonly [field: string]: unknown })[field]);
}

/** Makes the asynchronous methods of an object reject wrong arguments with a TypeError. Returns the object. */
export function checkArguments<T extends object>(object: T, methods: MethodForms<T>): T {
  for (const [method, forms] of Object.entries(methods) as [keyof T, { readonly [argument: string]: ArgumentForm }][]) {
    const run = object[method] as (...args: unknown[]) => unknown;
    const inOrder = Object.entries(forms);
    const checked = (...args: unknown[]): unknown => {
      try {
        for (const [at, [name, form]] of inOrder.entries()) assertForm(`${String(method)}: ${name}`, form, args[at]);
      } catch (error) {
        return Promise.reject(error);
      }
      return run.apply(object, args);
    };
    object[method] = checked as T[keyof T];
  }
  return object;
}

const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * The same clock with a checked result: it throws for a time of another form, so that no lease and no entry gets it.
 */
export const checkedClock = (clock: { now(): number }): { now(): number } => ({
  now() {
    const now: unknown = clock.now();
    const isTime = typeof now === 'number' && now >= 0 && now <= LAST_MS;
    assertArgument(isTime, 'the result of clock.now()', 'epoch milliseconds from 1970 to 9999', now);
    return now as number;
  },
});
