import { Environment } from '@marcbachmann/cel-js';
import { addMixedArithmetic, constantRegexProblem } from './cel-environment.ts';
import { describeSimilarName } from './names.ts';
import { MAX_CEL_RULE_NODES } from './policy/limits.ts';
import type { Fields, FruitType } from './types.ts';

/** The names that a rule may use in addition to the fixed facts of {@link CEL_FACT_TYPES}. */
export interface FactScope {
  /** The fruit fields of the peripherals that may be left when the rule is judged. */
  readonly fruit: { readonly [field: string]: FruitType };
  /** The ids of all peripherals; `visits` has a member for each. */
  readonly peripherals: readonly string[];
  /** The parameters of the tool whose calls the rule judges, as JSON Schemas by name. */
  readonly args?: { readonly [name: string]: Fields };
}

/**
 * The fixed facts: by name, the members with their CEL type. `fruit`, `visits` and `backpack` depend on the spec set.
 */
export const CEL_FACT_TYPES: { readonly [fact: string]: { readonly [member: string]: string } } = {
  session: { agent: 'string', steps: 'int', visits: 'int', denials: 'int', mode: 'string', peripheral: 'string' },
  visit: { steps: 'int', denials: 'int', peripheral: 'string' },
  tests: { passed: 'bool', count: 'int', failed: 'int' },
};

/** A name in CEL: `changed-files` is `changed_files`. */
const celName = (name: string): string => name.replaceAll('-', '_');

function celType(type: FruitType): string {
  if (typeof type !== 'string') return 'string';
  const types = { string: 'string', integer: 'int', number: 'dyn', boolean: 'bool', list: 'list<dyn>' } as const;
  return type === 'object' ? 'map<string, dyn>' : (types[type as keyof typeof types] ?? 'dyn');
}

function celTypeOf({ type }: Fields): string {
  const types: { readonly [type: string]: string } = { string: 'string', integer: 'int', boolean: 'bool' };
  return (typeof type === 'string' ? types[type] : undefined) ?? 'dyn';
}

/** The environment of a rule. Facts of type `int` must be `bigint`; the backpack is an open map. */
function factEnvironment(text: string, { fruit, peripherals, args }: FactScope): Environment {
  const limits = { maxAstNodes: MAX_CEL_RULE_NODES };
  const environment = addMixedArithmetic(new Environment({ unlistedVariablesAreDyn: false, limits }));
  // Declares only the peripherals that the rule names, because all of them would slow down large spec sets.
  const visited = text.includes('visits') ? peripherals.map(celName).filter((name) => text.includes(name)) : [];
  const all: { [fact: string]: { readonly [member: string]: string } } = {
    ...CEL_FACT_TYPES,
    fruit: Object.fromEntries(Object.entries(fruit).map(([field, type]) => [celName(field), celType(type)])),
    visits: Object.fromEntries(visited.map((name) => [name, 'int'])),
    ...(args
      ? { args: Object.fromEntries(Object.entries(args).map(([name, schema]) => [celName(name), celTypeOf(schema)])) }
      : {}),
  };
  for (const [fact, schema] of Object.entries(all)) environment.registerVariable(fact, { schema: { ...schema } });
  environment.registerVariable('backpack', 'map<string, dyn>');
  return environment;
}

/**
 * Checks a rule: that it parses, names only known facts and, as far as that can be decided, is true or false.
 * @returns the problem, or null
 * @example
 * checkCelRule('fruit.test_cuont > 0', scope);
 * // { message: 'unknown fact "fruit.test_cuont"', suggestion: 'did you mean "fruit.test_count"?' }
 */
export function checkCelRule(text: string, scope: FactScope): { message: string; suggestion: string | null } | null {
  const environment = factEnvironment(text, scope);
  const checked = environment.check(text);
  if (checked.valid) {
    const message = constantRegexProblem(environment.parse(text).ast);
    if (message) return { message, suggestion: 'RE2 has no lookahead, lookbehind or reference to a group' };
    if (checked.type === 'bool' || checked.type === 'dyn') return null;
    return { message: `the rule gives a value of type ${checked.type}, not true or false`, suggestion: 'compare it' };
  }
  const { code, range, summary } = checked.error!;
  const bad = range ? text.slice(range.start, range.end) : '';
  if (code === 'unknown_variable') {
    const roots = [...Object.keys(CEL_FACT_TYPES), 'fruit', 'visits', 'backpack', ...(scope.args ? ['args'] : [])];
    return { message: `unknown fact "${bad}"`, suggestion: describeSimilarName(bad, roots) };
  }
  if (code === 'no_such_key' && range) return unknownMember(text, range, scope);
  if (summary?.startsWith('Exceeded max'))
    return { message: 'the rule is too long or nested too deeply', suggestion: 'write a shorter rule' };
  return { message: `the rule is not valid: ${summary}`, suggestion: null };
}

/**
 * Describes an unknown member of a fact. `range` covers only the member in `fruit.reslt`, but all of `fruit["reslt"]`.
 */
function unknownMember(text: string, range: { readonly start: number; readonly end: number }, scope: FactScope) {
  const bad = text.slice(range.start, range.end);
  const indexed = /^(\w+)\s*\[\s*["'](.*)["']\s*\]$/s.exec(bad);
  const root = indexed?.[1] ?? /(?<!\w)(\w+)\s*\.\s*$/.exec(text.slice(0, range.start))?.[1] ?? '';
  const member = indexed?.[2] ?? bad;
  const members = membersOf(root, scope);
  const dashed = indexed ? member : member + (/^[-\w]*/.exec(text.slice(range.end))?.[0] ?? '');
  const meant = members.includes(celName(dashed)) ? celName(dashed) : member;
  const full = members.map((name) => `${root}.${name}`);
  return { message: `unknown fact "${root}.${member}"`, suggestion: describeSimilarName(`${root}.${meant}`, full) };
}

function membersOf(root: string, { fruit, peripherals, args = {} }: FactScope): string[] {
  if (root === 'args') return Object.keys(args).map(celName);
  if (root === 'fruit') return Object.keys(fruit).map(celName);
  return root === 'visits' ? peripherals.map(celName) : Object.keys(CEL_FACT_TYPES[root] ?? {});
}
