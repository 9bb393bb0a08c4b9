import { Environment } from '@marcbachmann/cel-js';
import type { Json } from '../spec/types.ts';

/** The facts that CEL rules see, each a map. Names are written with `_` for `-`. */
export type CelFacts = Readonly<Record<(typeof ROOTS)[number], { readonly [name: string]: Json }>>;
const ROOTS = ['fruit', 'session', 'visit', 'tests', 'backpack', 'visits'] as const;

const environment = ROOTS.reduce((env, root) => env.registerVariable(root, 'map'), new Environment());
const programs = new Map<string, (facts: object) => unknown>();

/** JSON numbers that are whole become CEL ints, names get `_` for `-`. */
function celValue(value: Json): unknown {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(celValue);
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key.replaceAll('-', '_'), celValue(item)]));
  }
  return value;
}

/**
 * Whether a CEL rule holds over the facts. A rule that cannot be evaluated (an absent fact, a type that does not fit) does not hold: it denies.
 * Pure; compiled programs are kept by their text.
 *
 * @example holds('fruit.test_count > 0', facts)
 */
export function holds(cel: string, facts: CelFacts): boolean {
  try {
    let program = programs.get(cel);
    if (!program) {
      program = environment.parse(cel);
      programs.set(cel, program);
    }
    return program(Object.fromEntries(ROOTS.map((root) => [root, celValue({ ...facts[root] })]))) === true;
  } catch {
    return false;
  }
}
