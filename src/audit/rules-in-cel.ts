import { Environment } from '@marcbachmann/cel-js';
import type { Json } from '../spec/types.ts';
import type { Fields } from './json.ts';

/** What a rule may speak of. */
export interface CelWorld {
  readonly fruit: Fields;
  readonly session: Fields;
  readonly visit: Fields;
  readonly tests: Fields;
  readonly backpack: Fields;
  readonly visits: Fields;
}

const world = ['fruit', 'session', 'visit', 'tests', 'backpack', 'visits'].reduce(
  (environment, name) => environment.registerVariable(name, 'map'),
  new Environment(),
);

/** Whether a rule holds. One that cannot be evaluated does not. */
export function celHolds(rule: string, facts: CelWorld): boolean {
  try {
    return world.parse(rule)(asCel({ ...facts } as unknown as Json) as object) === true;
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
