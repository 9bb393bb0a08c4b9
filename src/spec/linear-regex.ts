import { createRequire } from 'node:module';
import type { ASTNode, Environment } from '@marcbachmann/cel-js';
import type { RE2JS } from 're2js';

/** The CEL method that replaces `matches`, which the CEL library does not let us override. */
const LINEAR_MATCHES = 'matches_in_linear_time';

/**
 * Compiles a regular expression that is searched in time proportional to the text. JavaScript's own engine backtracks:
 * `(a+)+$` and an agent's argument could stop hopgate for hours. The first pattern loads the engine.
 * @throws Error if it is not a regular expression of RE2, which has no lookahead, lookbehind or reference to a group
 */
function linearRegex(pattern: string): RE2JS {
  const { RE2JS: engine } = createRequire(import.meta.url)('re2js') as typeof import('re2js');
  return engine.compile(engine.translateRegExp(pattern));
}

/** Ajv's engine for `pattern` in JSON Schemas: RE2, or JavaScript's engine for what RE2 lacks, such as a lookahead. */
export const schemaRegex = Object.assign(
  (pattern: string, flags: string) => {
    try {
      return linearRegex(pattern);
    } catch {
      return new RegExp(pattern, flags);
    }
  },
  { code: 'schemaRegex' },
);

/** Adds the method that {@link parseCelRule} needs to an environment of CEL. */
export const addLinearMatchesToCel = (environment: Environment): Environment =>
  environment.registerFunction(`string.${LINEAR_MATCHES}(string): bool`, (text: string, pattern: string) =>
    linearRegex(pattern).test(text),
  );

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
