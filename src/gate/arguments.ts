import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Json, ToolSpec } from '../spec/types.ts';

export type Arguments = { readonly [name: string]: Json };
export type BoundArguments =
  | { readonly ok: true; readonly args: Arguments }
  | { readonly ok: false; readonly argument: string | null; readonly problem: string };

const isObject = (value: unknown): value is { [key: string]: Json } =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

/**
 * A call's arguments by parameter name, from an object or from the seeds' positional list, checked against the catalogue. Nothing is dropped:
 * an unknown name or one argument too many is a problem.
 */
export function bindArguments(tool: ToolSpec, given: unknown): BoundArguments {
  const named = nameThem(tool, given ?? {});
  if (!named.ok) return named;
  for (const name of Object.keys(named.args)) {
    if (!tool.parameters.some((parameter) => parameter.name === name)) {
      const known = tool.parameters.map((parameter) => parameter.name).join(', ') || 'none';
      return { ok: false, argument: name, problem: `${tool.id} has no parameter "${name}" (it has: ${known})` };
    }
  }
  for (const parameter of tool.parameters) {
    const value = named.args[parameter.name];
    if (value === undefined) {
      if (parameter.required) return { ok: false, argument: parameter.name, problem: `"${parameter.name}" is missing` };
      continue;
    }
    const problem = valueProblem(value, parameter.schema);
    if (problem) return { ok: false, argument: parameter.name, problem: `"${parameter.name}" ${problem}` };
  }
  return named;
}

function nameThem(tool: ToolSpec, given: unknown): BoundArguments {
  if (Array.isArray(given)) {
    if (given.length > tool.parameters.length) {
      return {
        ok: false,
        argument: null,
        problem: `${tool.id} takes at most ${tool.parameters.length} arguments, not ${given.length}`,
      };
    }
    const pairs = tool.parameters.flatMap(({ name }, index) =>
      given[index] === undefined || given[index] === null ? [] : [[name, given[index] as Json] as const],
    );
    return { ok: true, args: Object.fromEntries(pairs) };
  }
  if (!isObject(given))
    return { ok: false, argument: null, problem: 'args has to be an object by parameter name, or a list in order' };
  return {
    ok: true,
    args: Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined && value !== null)),
  };
}

const ajv = new Ajv2020({ strict: false, allErrors: false, validateFormats: false });
const validators = new WeakMap<object, ValidateFunction>();

/** What is wrong with a value by its JSON Schema, in words; null when nothing is. Compiled schemas are kept by identity. */
function valueProblem(value: Json, schema: ToolSpec['parameters'][number]['schema']): string | null {
  let validate = validators.get(schema);
  if (!validate) {
    validate = ajv.compile(schema);
    validators.set(schema, validate);
  }
  if (validate(value)) return null;
  const [error] = validate.errors ?? [];
  return `${error?.instancePath ?? ''} ${error?.message ?? 'does not fit its schema'}`.trim();
}
