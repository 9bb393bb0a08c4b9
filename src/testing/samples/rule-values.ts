import { factOf, partsOfRule } from '../../audit/properties/can-rule-hold.ts';
import { nodesOf } from '../../audit/rules/audited-cel.ts';
import type { Fields, FruitType, Json } from '../../spec/types.ts';
import { CEL_RULE_SEPARATOR } from '../model/cel-rules-text.ts';

type NamedType = Extract<FruitType, string>;
type RulePart = ReturnType<typeof partsOfRule>[number];

const ORDINARY: { readonly [type in NamedType]: Json } = {
  string: 'stated',
  integer: 1,
  number: 1,
  boolean: true,
  list: ['stated'],
  object: { stated: true },
};

/** A value of a type: the first of a list of values, or one that is not blank. */
export const sampleOfType = (type: FruitType): Json => (typeof type === 'string' ? ORDINARY[type] : (type[0] ?? ''));

/** The parts of rules that read a field, whichever fact it is a member of. */
function partsThatRead(rules: string, field: string): readonly RulePart[] {
  const name = field.replaceAll('-', '_');
  return rules
    .split(CEL_RULE_SEPARATOR)
    .filter((rule) => rule.includes(name))
    .flatMap(partsOfRule)
    .filter((part) => nodesOf(part).some((node) => factOf(node)?.name === name));
}

export const isReadIn = (rules: string, field: string): boolean => partsThatRead(rules, field).length > 0;

/**
 * Values of a field that rules may distinguish: first an ordinary value, then a value for each literal that a part of a
 * rule contains together with the field, and for numbers the values between and beyond the literals.
 * @param rules one rule, or all rules of a spec set, joined
 */
export function sampleValuesForRules(rules: string, field: string, type: FruitType): readonly Json[] {
  if (typeof type !== 'string') return type;
  const nodes = partsThatRead(rules, field).flatMap(nodesOf);
  const values = [ORDINARY[type], ...(nodes.length > 0 ? valuesIn(nodes, field.replaceAll('-', '_'), type) : [])];
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}

function valuesIn(nodes: readonly RulePart[], name: string, type: NamedType): readonly Json[] {
  const literals = nodes.flatMap(({ op, args }) => (op === 'value' ? [args] : []));
  const texts = literals.filter((value) => typeof value === 'string');
  const negatives = nodes.flatMap((node) => (node.op === '-_' && node.args.op === 'value' ? [node.args.args] : []));
  const [positive, negative] = [literals, negatives].map((values) =>
    values.filter((value) => typeof value === 'number' || typeof value === 'bigint').map(Number),
  );
  const numbers = [...positive!, ...negative!.map((number) => -number)];
  const sizes = nodes.some(({ op, args }) => (op === 'call' || op === 'rcall') && args[0] === 'size')
    ? around(numbers, 1).filter((size) => size >= 0 && size <= MAX_SIZE)
    : [];
  switch (type) {
    case 'boolean':
      return [true, false];
    case 'integer':
    case 'number':
      return [0, ...around(numbers, type === 'integer' ? 1 : 0)];
    case 'string':
      return ['', ...texts, ...sizes.map((size) => 'x'.repeat(size))];
    case 'list':
      return [[], ...texts.map((one) => [one]), texts, ...sizes.map((size) => Array<Json>(size).fill('x'))];
    case 'object':
      return [
        {},
        ...membersRead(nodes, name).flatMap((member) =>
          [true, false, ...texts, ...around(numbers, 0)].map((value): Fields => ({ [member]: value })),
        ),
      ];
  }
}
const MAX_SIZE = 100;

/** The members of an object that rules read: `total` in `backpack.cart.total`. */
const membersRead = (nodes: readonly RulePart[], name: string): readonly string[] => [
  ...new Set(
    nodes.flatMap((node) => {
      if (node.op !== '.' && node.op !== '[]') return [];
      const [of, member] = node.args;
      const read = typeof member === 'string' ? member : member.op === 'value' ? member.args : null;
      return factOf(of)?.name === name && typeof read === 'string' ? [read] : [];
    }),
  ),
];

/**
 * Numbers, one between each two neighbours, and one beyond each end.
 * @param step the distance of two neighbouring numbers; 0 if there is always another number between two numbers
 */
function around(numbers: readonly number[], step: 0 | 1): readonly number[] {
  const whole = numbers.map((number) => (step ? Math.floor(number) : number));
  const sorted = [...new Set(whole)].sort((a, b) => a - b);
  return sorted.flatMap((number, at) => {
    const next = sorted[at + 1] ?? number + 2;
    const between = step ? Math.floor((number + next) / 2) : (number + next) / 2;
    return [...(at === 0 ? [number - 1] : []), number, ...(between > number ? [between] : [])];
  });
}
