import { createRequire } from 'node:module';
import type { Ajv2020, ValidateFunction } from 'ajv/dist/2020.js';
import { getOrInsert } from '../base/get-or-insert.ts';
import { isObject } from '../base/json.ts';
import { memoise } from '../base/lazy.ts';
import { excerpt, plural, shorten } from '../base/text.ts';
import { schemaRegex } from '../spec/linear-regex.ts';
import { ARGUMENT_ROLE_FACTS } from '../spec/policy/argument-roles.ts';
import type { Fields, Json, ToolSpec } from '../spec/types.ts';

export type CallArguments = Fields;
type BoundArguments =
  | { readonly ok: true; readonly args: CallArguments }
  | { readonly ok: false; readonly argument: string | null; readonly problem: string };

/**
 * The arguments of a call by parameter name, checked against the tool's spec. The call gives an object, or a list in
 * the order of the parameters. An unknown name or too many arguments are a problem.
 */
export function bindCallArguments(tool: ToolSpec, args: unknown): BoundArguments {
  const given = argumentsByName(tool, args ?? {});
  if (!given.ok) return given;
  const named = { ok: true, args: withDefaults(tool, given.args) } as const;
  for (const name of Object.keys(named.args)) {
    if (!tool.parameters.some((parameter) => parameter.name === name)) {
      const names = tool.parameters.map((parameter) => parameter.name).join(', ') || 'none';
      return refuse(name, `there is no parameter "${excerpt(name, 100)}" (${tool.id} has: ${names})`);
    }
  }
  for (const parameter of tool.parameters) {
    const value = named.args[parameter.name];
    if (value === undefined) {
      if (parameter.required) return refuse(parameter.name, `"${parameter.name}" is missing`);
      continue;
    }
    const problem = valueProblem(value, parameter.schema);
    if (problem) return refuse(parameter.name, `"${parameter.name}" ${problem}`);
  }
  return named;
}

const refuse = (argument: string | null, problem: string): BoundArguments => ({ ok: false, argument, problem });

function argumentsByName(tool: ToolSpec, args: unknown): BoundArguments {
  if (Array.isArray(args)) {
    if (args.length > tool.parameters.length) {
      return refuse(
        null,
        `${args.length} arguments are given, and ${tool.id} has ${plural(tool.parameters.length, 'parameter')}`,
      );
    }
    const pairs = tool.parameters.flatMap(({ name }, index) =>
      args[index] === undefined || args[index] === null ? [] : [[name, args[index] as Json] as const],
    );
    return { ok: true, args: Object.fromEntries(pairs) };
  }
  if (!isObject(args))
    return refuse(
      null,
      'args must be an object with parameter names as keys, or a list in the order of the parameters',
    );
  const present = Object.entries(args as CallArguments).filter(
    ([name, value]) => value !== undefined && (value !== null || takesNull(tool, name)),
  );
  return { ok: true, args: Object.fromEntries(present) };
}

/**
 * Fills in the defaults of omitted arguments, so that scopes, rules and approvals judge a default like any value. If a
 * missing argument of a role means the root, an empty list counts as missing, because many tools then take all files. A
 * default of null, which many servers declare, fills in nothing.
 */
function withDefaults({ parameters }: ToolSpec, args: CallArguments): CallArguments {
  const filled: { [name: string]: Json } = { ...args };
  for (const { name, role, schema } of parameters) {
    const isEmpty = (value?: Json) =>
      ARGUMENT_ROLE_FACTS[role].absentMeansRoot && Array.isArray(value) && value.length === 0;
    if (isEmpty(filled[name])) delete filled[name];
    const byDefault = schema['default'] ?? null;
    if (filled[name] === undefined && byDefault !== null && !isEmpty(byDefault)) filled[name] = byDefault;
  }
  return filled;
}

/**
 * True if null is a value of the parameter, such as "nobody" for an assignee. Otherwise null means an absent argument.
 */
function takesNull({ parameters }: ToolSpec, name: string): boolean {
  const parameter = parameters.find((each) => each.name === name);
  return (
    parameter !== undefined &&
    ARGUMENT_ROLE_FACTS[parameter.role].takesNull &&
    valueProblem(null, parameter.schema) === null
  );
}

/** The JSON Schema validator. Loading it takes longer than a decision, so the first schema that needs it loads it. */
const validator = memoise((): Ajv2020 => {
  const { Ajv2020 } = createRequire(import.meta.url)('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js');
  return new Ajv2020({
    strict: false,
    allErrors: false,
    validateFormats: false,
    meta: false,
    validateSchema: false,
    code: { regExp: schemaRegex },
  });
});

const PLAIN = ['type', 'minimum', 'maximum', 'title', 'description'];

/**
 * Checks a value against a simple schema (a type; for numbers, bounds), as most parameters have. Returns the problem in
 * the validator's words, null if there is none, undefined if the schema is not simple.
 */
export function schemaProblem(value: Json, schema: Fields): string | null | undefined {
  const { type, minimum, maximum } = schema;
  const bounds = [minimum, maximum].filter((bound) => bound !== undefined);
  if (!Object.keys(schema).every((key) => PLAIN.includes(key))) return undefined;
  if (type === 'string' || type === 'boolean') {
    if (bounds.length > 0) return undefined;
    return typeof value === type ? null : `must be ${type}`;
  }
  if (type !== 'integer' || bounds.some((bound) => typeof bound !== 'number')) return undefined;
  if (typeof value !== 'number' || !Number.isInteger(value)) return 'must be integer';
  if (typeof maximum === 'number' && value > maximum) return `must be <= ${maximum}`;
  return typeof minimum === 'number' && value < minimum ? `must be >= ${minimum}` : null;
}

const validators = new WeakMap<object, ValidateFunction>();

/** Checks a value against its JSON Schema; returns the problem, or null. Compiled schemas are cached by identity. */
function valueProblem(value: Json, schema: ToolSpec['parameters'][number]['schema']): string | null {
  const plain = schemaProblem(value, schema);
  if (plain !== undefined) return plain;
  const validate = getOrInsert(validators, schema, () => validator().compile(schema));
  if (validate(value)) return null;
  const [error] = validate.errors ?? [];
  const { allowedValues, allowedValue, additionalProperty } = error?.params ?? {};
  const named = allowedValues ?? allowedValue ?? additionalProperty;
  const which = named === undefined ? '' : `: ${shorten(JSON.stringify(named), 500)}`;
  return `${error?.instancePath ?? ''} ${error?.message ?? 'does not fit its schema'}${which}`.trim();
}
