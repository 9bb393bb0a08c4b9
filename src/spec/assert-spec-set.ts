import { assertArgument } from '../base/assert-argument.ts';
import { fieldsOf, isObject } from '../base/json.ts';
import type { SpecSet } from './types.ts';

/** Refuses anything but a loaded spec set. @throws TypeError with the argument's name */
export function assertSpecSet(value: unknown, name: string): asserts value is SpecSet {
  const { hash, peripherals, tools, edges } = fieldsOf(value);
  const isSpecSet = typeof hash === 'string' && isObject(peripherals) && isObject(tools) && Array.isArray(edges);
  assertArgument(isSpecSet, name, 'a spec set, as loadSpecs returns it', value);
}
