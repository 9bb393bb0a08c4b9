import { type ASTNode, Environment, serialize } from '@marcbachmann/cel-js';
import { getOrInsert } from '../../base/get-or-insert.ts';
import { asJson, type Fields } from '../../base/json.ts';
import { valueOr } from '../../base/value-or.ts';
import { addRuleFunctions, parseCelRule } from '../../spec/cel-environment.ts';
import type { Json } from '../../spec/types.ts';

interface CelVariables {
  readonly fruit: Fields;
  readonly session: Fields;
  readonly visit: Fields;
  readonly tests: Fields;
  readonly backpack: Fields;
  readonly visits: Fields;
  /** The arguments of the call that the rule judges; empty in a rule that judges no call. */
  readonly args: Fields;
}

const environment = ['fruit', 'session', 'visit', 'tests', 'backpack', 'visits', 'args'].reduce(
  (built, name) => built.registerVariable(name, 'map'),
  addRuleFunctions(new Environment()),
);
const parsed = new Map<string, ReturnType<typeof environment.parse>>();

/** The facts for a rule, by name. A rule that reads an absent fact cannot be evaluated. */
export type CelRuleFacts = { readonly [root in keyof CelVariables]?: Fields };

const parse = (rule: string): ReturnType<typeof environment.parse> =>
  getOrInsert(parsed, rule, () => parseCelRule(environment, rule));

/** Evaluates a rule in CEL. A rule that cannot be evaluated does not hold. */
export const isCelRuleTrue = (rule: string, variables: CelVariables): boolean => evaluateCel(rule, variables) === true;

/** The value of an expression in CEL; undefined if it cannot be evaluated. */
export const evaluateCel = (expression: string, facts: CelRuleFacts): unknown =>
  valueOr(() => parse(expression)(asCel(asJson({ ...facts })) as object), undefined);

/** The syntax tree of a rule; null if it cannot be parsed. */
export const celSyntaxTree = (rule: string): ASTNode | null => valueOr(() => parse(rule).ast, null);

const isNode = (part: unknown): part is ASTNode => typeof part === 'object' && part !== null && 'op' in part;

/** The nodes directly below a node of a rule. */
export const partsOf = ({ args }: ASTNode): readonly ASTNode[] => [args].flat(3).filter(isNode);

/** A node of a rule and all nodes in it. */
export const nodesOf = (node: ASTNode): readonly ASTNode[] => [node, ...partsOf(node).flatMap(nodesOf)];

/** True if a rule reads a variable, such as `tests` in `tests.count > 3`. */
export function readsCelVariable(rule: string, variable: keyof CelVariables): boolean {
  const tree = celSyntaxTree(rule);
  return tree !== null && nodesOf(tree).some(({ op, args }) => op === 'id' && args === variable);
}

export const printCelNode: (node: ASTNode) => string = serialize;

/**
 * Converts a value for CEL: whole numbers become ints, and a dash in a name becomes `_`. Throws if two names of one
 * object become the same, because the rule could judge a value that the tool does not use.
 */
function asCel(value: Json): unknown {
  if (Array.isArray(value)) return value.map(asCel);
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (value === null || typeof value !== 'object') return value;
  const members = new Map(Object.entries(value).map(([name, member]) => [name.replaceAll('-', '_'), asCel(member)]));
  if (members.size < Object.keys(value).length) throw new Error('two names differ only in "-" and "_"');
  return Object.fromEntries(members);
}
