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

const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');

/** The same clock with a checked result: a time of another form throws, so that no lease and no entry gets it. */
export const checkedClock = (clock: { now(): number }): { now(): number } => ({
  now() {
    const now: unknown = clock.now();
    const isTime = typeof now === 'number' && now >= 0 && now <= LAST_MS;
    assertArgument(isTime, 'the result of clock.now()', 'epoch milliseconds from 1970 to 9999', now);
    return now as number;
  },
});
