import type { Fields, FruitType, Json, PeripheralSpec, SpecSet } from '../../spec/types.ts';
import { joinCelRules } from '../model/cel-rules-text.ts';

export function sampleStatedFruit({ fruit }: PeripheralSpec): { [field: string]: Json } {
  return Object.fromEntries(
    Object.entries(fruit).flatMap(([field, rule]) =>
      rule.kind === 'stated' ? [[field, sampleOfType(rule.type)]] : [],
    ),
  );
}

export function sampleOfType(type: FruitType): Json {
  if (Array.isArray(type)) return (type as readonly string[])[0] ?? '';
  const values: Fields = {
    string: 'stated',
    integer: 1,
    number: 1,
    boolean: true,
    list: ['stated'],
    object: { stated: true },
  };
  return values[type as string] ?? null;
}

const variants = new WeakMap<
  PeripheralSpec,
  readonly { readonly note: string; readonly fruit: { [field: string]: Json } }[]
>();

/** Stated fruits that the rules of a spec set may distinguish: each stated field with each value that a rule names. */
export function sampleStatedFruits(specs: SpecSet, from: PeripheralSpec) {
  const known = variants.get(from);
  if (known) return known;
  const base = sampleStatedFruit(from);
  const rules = joinCelRules(specs);
  const more = Object.entries(from.fruit).flatMap(([field, rule]) => {
    const name = field.replaceAll('-', '_');
    if (rule.kind !== 'stated' || !new RegExp(`\\b${name}\\b`).test(rules)) return [];
    return sampleValuesForRules(rule.type, rules)
      .filter((value) => value !== base[field])
      .map((value) => ({ note: ` {${field}: ${JSON.stringify(value)}}`, fruit: { ...base, [field]: value } }));
  });
  const all = [{ note: '', fruit: base }, ...more.slice(0, MAX_VARIANTS)];
  variants.set(from, all);
  return all;
}

const MAX_VARIANTS = 12;

export function sampleValuesForRules(type: FruitType, rules: string): readonly Json[] {
  if (typeof type !== 'string') return type;
  const numbers = (rules.match(/\b\d+\b/g) ?? []).map(Number);
  if (type === 'integer' || type === 'number')
    return [...new Set([0, ...numbers.flatMap((number) => [number - 1, number, number + 1])])];
  if (type === 'boolean') return [true, false];
  if (type === 'string')
    return ['', ...[...rules.matchAll(/"([^"]*)"|'([^']*)'/g)].map((match) => match[1] ?? match[2] ?? '')];
  if (type === 'list') return [[]];
  return [];
}
