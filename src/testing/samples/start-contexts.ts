import { getOrInsert } from '../../base/get-or-insert.ts';
import { RESERVED_STATE_FIELDS } from '../../spec/policy/reserved-fields.ts';
import { fieldsReportedByTools } from '../../spec/reported-fields.ts';
import type { Fields, FruitType, Json, SpecSet } from '../../spec/types.ts';
import { CEL_RULE_SEPARATOR, joinCelRules } from '../model/cel-rules-text.ts';
import { sampleValuesForRules } from './rule-values.ts';

interface StartContext {
  readonly note: string;
  readonly fields: Fields;
}
const MAX_CONTEXTS = 12;
const contexts = new WeakMap<SpecSet, readonly StartContext[]>();

/**
 * Contexts for starts. The first has a value for each field that a peripheral takes from the context of a start. The
 * others are contexts that a rule may distinguish, because it reads fields in the backpack that no fruit and no tool
 * supplies.
 */
export const sampleStartContexts = (specs: SpecSet): readonly StartContext[] =>
  getOrInsert(contexts, specs, () => {
    const peripherals = Object.values(specs.peripherals);
    const taken = peripherals.flatMap(({ context }) => Object.entries(context));
    const inherited = taken.filter(([field, { source }]) => source.kind === 'inherit' && field !== 'session-id');
    const base: Fields = Object.fromEntries(inherited.map(([field]) => [field, 'given']));
    const celName = (field: string) => field.replaceAll('-', '_');
    const supplied = new Set(
      [
        ...RESERVED_STATE_FIELDS,
        ...Object.keys(fieldsReportedByTools(specs).state),
        ...peripherals.flatMap(({ fruit }) => Object.keys(fruit)),
      ].map(celName),
    );
    const demanded = new Set(inherited.flatMap(([field, { optional }]) => (optional ? [] : [field])));
    const without = (fields: Fields, field: string): Fields =>
      Object.fromEntries(Object.entries(fields).filter(([key]) => key !== field));
    const more = joinCelRules(specs)
      .split(CEL_RULE_SEPARATOR)
      .flatMap((rule) => {
        const names = new Set([...rule.matchAll(/\bbackpack\.(\w+)/g)].map(([, name]) => name!));
        let all: readonly Fields[] = [base];
        for (const name of [...names].filter((name) => !supplied.has(name))) {
          const field = Object.keys(base).find((one) => celName(one) === name) ?? name;
          const values = valuesIn(rule, name);
          all = all.flatMap((fields) => [
            fields,
            ...values.map((value) => ({ ...fields, [field]: value })),
            ...(demanded.has(field) ? [] : [without(fields, field)]),
          ]);
          all = all.slice(0, MAX_CONTEXTS);
        }
        return all;
      });
    const unique = new Map([base, ...more].map((fields) => [JSON.stringify(fields), fields]));
    return [...unique]
      .slice(0, MAX_CONTEXTS)
      .map(([text, fields]) => ({ note: fields === base ? '' : ` ${text}`, fields }));
  });

/**
 * The values that a rule compares a field with, and the values next to these; any value if the rule compares the field
 * with none.
 */
function valuesIn(rule: string, field: string): readonly Json[] {
  const compares = (type: FruitType) => sampleValuesForRules(rule, field, type).slice(1);
  const texts = compares('string').filter((text) => text !== '');
  const numbers = compares('number').filter((number) => number !== 0);
  return [...texts, ...numbers, ...(texts.length + numbers.length === 0 ? [true, 'given'] : [])];
}
