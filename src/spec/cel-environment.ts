import type { ASTNode, Environment } from '@marcbachmann/cel-js';
import { linearRegex } from './linear-regex.ts';

/** The CEL method that replaces `matches`, which the CEL library does not let us override. */
const LINEAR_MATCHES = 'matches_in_linear_time';

/** Adds to an environment that evaluates rules all that they need: {@link addMixedArithmetic} and linear `matches`. */
export const addRuleFunctions = (environment: Environment): Environment =>
  addMixedArithmetic(environment).registerFunction(
    `string.${LINEAR_MATCHES}(string): bool`,
    (text: string, pattern: string) => linearRegex(pattern).test(text),
  );

/**
 * Adds arithmetic between ints and doubles to an environment of CEL. JSON does not distinguish `7` from `7.0`, so
 * without this a rule that works for one amount could not be evaluated for another.
 */
export function addMixedArithmetic(environment: Environment): Environment {
  for (const [sign, calculate] of Object.entries(ARITHMETIC))
    for (const types of [`int ${sign} double`, `double ${sign} int`])
      environment.registerOperator(`${types}: double`, (a: bigint | number, b: bigint | number) =>
        calculate(Number(a), Number(b)),
      );
  return environment;
}

const ARITHMETIC: { readonly [sign: string]: (a: number, b: number) => number } = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
};

/** Parses a rule in CEL; its `matches` searches in linear time. @throws ParseError if it is not CEL */
export function parseCelRule(environment: Environment, rule: string): ReturnType<Environment['parse']> {
  const program = environment.parse(rule);
  for (const call of matchesCalls(program.ast)) call[0] = LINEAR_MATCHES;
  return program;
}

/** The problem of the first constant pattern of `matches` that is not a regular expression of RE2; null if none. */
export function constantRegexProblem(ast: ASTNode): string | null {
  for (const [, , [pattern]] of matchesCalls(ast)) {
    if (pattern?.op !== 'value' || typeof pattern.args !== 'string') continue;
    try {
      linearRegex(pattern.args);
    } catch (error) {
      return `the regular expression "${pattern.args}" is not valid: ${(error as Error).message}`;
    }
  }
  return null;
}

function* matchesCalls(part: unknown): Generator<[method: string, text: ASTNode, patterns: readonly ASTNode[]]> {
  if (Array.isArray(part)) for (const each of part) yield* matchesCalls(each);
  if (part === null || typeof part !== 'object' || !('op' in part)) return;
  const node = part as ASTNode;
  if (node.op === 'rcall' && node.args[0] === 'matches') yield node.args;
  yield* matchesCalls(node.args);
}
