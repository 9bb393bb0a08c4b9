import { getOrInsert } from '../../base/get-or-insert.ts';
import { edgesFromPeripheral } from '../../spec/edges-from.ts';
import { getOwn } from '../../spec/names.ts';
import type { Edge, Json, PeripheralSpec, SpecSet } from '../../spec/types.ts';
import { CEL_RULE_SEPARATOR, joinCelRules } from '../model/cel-rules-text.ts';
import { isReadIn, sampleOfType, sampleValuesForRules } from './rule-values.ts';

export function sampleStatedFruit({ fruit }: PeripheralSpec): { [field: string]: Json } {
  return Object.fromEntries(
    Object.entries(fruit).flatMap(([field, rule]) =>
      rule.kind === 'stated' ? [[field, sampleOfType(rule.type)]] : [],
    ),
  );
}

export interface StatedFruit {
  readonly note: string;
  readonly fruit: { readonly [field: string]: Json };
}
const variants = new WeakMap<PeripheralSpec, Map<string, readonly StatedFruit[]>>();

/**
 * Stated fruits for a hop: each stated field with each value that a rule of the hop, or a rule that reads the backpack,
 * may distinguish, and the combinations for a rule that reads several fields.
 */
export const sampleStatedFruits = (
  specs: SpecSet,
  from: PeripheralSpec,
  exit: string,
  to: string,
): readonly StatedFruit[] =>
  getOrInsert(
    getOrInsert(variants, from, () => new Map<string, readonly StatedFruit[]>()),
    `${exit} ${to}`,
    () => {
      const base = sampleStatedFruit(from);
      const edges = edgesFromPeripheral(specs, from.id).filter((edge) => edge.exit === exit && edge.to === to);
      const fruits = new Map<string, StatedFruit['fruit']>([['', base]]);
      for (const rule of new Set([...edges.flatMap((edge) => rulesOfEdge(specs, edge)), ...rulesOfBackpack(specs)])) {
        const fields = Object.keys(base).filter((field) => isReadIn(rule, field));
        for (const varied of [...fields.map((field) => [field]), fields.slice(0, MAX_COMBINED)])
          for (const fruit of combine(from, base, varied, rule)) fruits.set(noteOf(base, fruit), fruit);
      }
      return [...fruits].slice(0, MAX_VARIANTS).map(([note, fruit]) => ({ note, fruit }));
    },
  );

/** The fruits in which these fields have each value that a rule may distinguish. */
const combine = (from: PeripheralSpec, base: StatedFruit['fruit'], fields: readonly string[], rule: string) =>
  fields.reduce<readonly StatedFruit['fruit'][]>(
    (fruits, field) =>
      sampleValuesForRules(rule, field, from.fruit[field]!.type).flatMap((value) =>
        fruits.map((fruit) => ({ ...fruit, [field]: value })),
      ),
    [base],
  );

const rulesOfEdge = ({ conditions }: SpecSet, edge: Edge): readonly string[] => [
  ...(edge.when === null ? [] : [edge.when]),
  ...edge.gates.flatMap((gate) => (gate.kind === 'when' ? [gate.cel] : [])),
  ...edge.conditions.flatMap((name) => getOwn(conditions, name) ?? []),
];

const rulesOfBackpack = (specs: SpecSet): readonly string[] =>
  joinCelRules(specs)
    .split(CEL_RULE_SEPARATOR)
    .filter((rule) => rule.includes('backpack'));

/** The fields that differ from the base, as `{field: value}`. */
function noteOf(base: StatedFruit['fruit'], fruit: StatedFruit['fruit']): string {
  const other = Object.keys(fruit).filter((field) => JSON.stringify(fruit[field]) !== JSON.stringify(base[field]));
  return other.length === 0 ? '' : ` {${other.map((field) => `${field}: ${JSON.stringify(fruit[field])}`).join(', ')}}`;
}

const MAX_COMBINED = 3;
const MAX_VARIANTS = 40;
