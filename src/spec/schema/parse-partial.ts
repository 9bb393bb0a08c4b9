import type { z } from 'zod';
import { isObject } from '../../base/json.ts';
import type { ReportSpecProblem, SpecPath } from '../check/spec-problem.ts';
import { describeSimilarName, findSimilarName } from '../names.ts';

/** The type of a value whose invalid parts are left out. */
export type PartiallyParsed<T> = T extends readonly (infer Item)[]
  ? PartiallyParsed<Item>[]
  : T extends object
    ? { [Key in keyof T]?: PartiallyParsed<T[Key]> | undefined }
    : T;

/**
 * Checks data against a schema and keeps every valid part, so that one bad name never hides other problems: each
 * problem is reported at its own path, and the returned part can be checked further.
 */
export function parseValidParts<S extends z.ZodType>(
  schema: S,
  value: unknown,
  report: ReportSpecProblem,
): PartiallyParsed<z.output<S>> | undefined {
  return parseParts(schema, value, [], report) as PartiallyParsed<z.output<S>> | undefined;
}

function parseParts(schema: z.ZodType, value: unknown, path: SpecPath, report: ReportSpecProblem): unknown {
  const { def } = schema as z.ZodType & { def: Definition };
  switch (def.type) {
    case 'optional':
      return value === undefined ? undefined : parseParts(def.innerType!, value, path, report);
    case 'default':
      return value === undefined ? def.defaultValue : parseParts(def.innerType!, value, path, report);
    case 'object':
      return isMapping(value) ? parseObject(def, value, path, report) : refuse('a mapping', value, path, report);
    case 'record':
      return isMapping(value) ? parseRecord(def, value, path, report) : refuse('a mapping', value, path, report);
    case 'array': {
      if (!Array.isArray(value)) return refuse('a list', value, path, report);
      const valid = value.flatMap((item, index) => {
        const good = parseParts(def.element!, item, [...path, index], report);
        return good === undefined ? [] : [good];
      });
      parseLeaf(schema, value, path, (at, message) => at.length === path.length && report(at, message));
      return valid;
    }
    case 'union': {
      const matching = def.options!.filter((option) => acceptsValue(option, value));
      const best =
        matching.find((option) => option.safeParse(value).success) ??
        matching.sort((a, b) => keysInCommon(b, value) - keysInCommon(a, value))[0];
      if (best) return parseParts(best, value, path, report);
      return refuse([...new Set(def.options!.map(kindName))].join(' or '), value, path, report);
    }
    default:
      return parseLeaf(schema, value, path, report);
  }
}

interface Definition {
  readonly type: string;
  readonly innerType?: z.ZodType;
  readonly defaultValue?: unknown;
  readonly shape?: { readonly [key: string]: z.ZodType };
  readonly element?: z.ZodType;
  readonly keyType?: z.ZodType;
  readonly valueType?: z.ZodType;
  readonly options?: readonly z.ZodType[];
  readonly catchall?: z.ZodType;
}

type Mapping = { readonly [key: string]: unknown };

const isMapping = (value: unknown): value is Mapping => isObject(value);

function parseObject(def: Definition, value: Mapping, path: SpecPath, report: ReportSpecProblem): Mapping {
  const shape = def.shape!;
  const valid: { [key: string]: unknown } = {};
  const unknown = Object.keys(value).filter((key) => !Object.hasOwn(shape, key));
  for (const key of unknown)
    report([...path, key], `unknown key "${key}"`, describeSimilarName(key, Object.keys(shape)));
  const misspelt = new Set(unknown.map((key) => findSimilarName(key, Object.keys(shape))));
  for (const [key, schema] of Object.entries(shape)) {
    if (!Object.hasOwn(value, key) && isRequired(schema)) {
      if (!misspelt.has(key)) report(path, `"${key}" is missing`, schema.description ?? null);
      continue;
    }
    const good = parseParts(schema, Object.hasOwn(value, key) ? value[key] : undefined, [...path, key], report);
    if (good !== undefined) valid[key] = good;
  }
  return valid;
}

function parseRecord(def: Definition, value: Mapping, path: SpecPath, report: ReportSpecProblem): Mapping {
  const valid: { [key: string]: unknown } = {};
  for (const [key, item] of Object.entries(value)) {
    const named = def.keyType!.safeParse(key);
    if (!named.success) report([...path, key], `"${key}" ${named.error.issues[0]!.message}`);
    const good = parseParts(def.valueType!, item, [...path, key], report);
    if (named.success && good !== undefined) valid[key] = good;
  }
  return valid;
}

function parseLeaf(schema: z.ZodType, value: unknown, path: SpecPath, report: ReportSpecProblem): unknown {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  for (const issue of parsed.error.issues) {
    const at = [...path, ...(issue.path as (string | number)[])];
    if (issue.code === 'invalid_value' && typeof value === 'string') {
      report(at, `unknown value "${value}"`, describeSimilarName(value, issue.values.map(String)));
    } else if (issue.code === 'invalid_type') {
      report(at, `expected ${article(issue.expected)}, got ${show(value)}`);
    } else if (issue.code === 'too_small' && (issue.origin === 'array' || issue.origin === 'string')) {
      report(at, Number(issue.minimum) > 1 ? issue.message : 'must not be empty');
    } else if (issue.message.startsWith('is ')) {
      report(at, `${show(value)} ${issue.message}`);
    } else {
      report(at, issue.message);
    }
  }
  return undefined;
}

function refuse(expected: string, value: unknown, path: SpecPath, report: ReportSpecProblem): undefined {
  report(path, `expected ${expected}, got ${show(value)}`);
}

/** The outer type of a schema. It selects the member of a union that the author meant. */
function kindOf(schema: z.ZodType): string {
  const { def } = schema as z.ZodType & { def: Definition };
  if (def.type === 'object' || def.type === 'record') return 'mapping';
  if (def.type === 'array') return 'list';
  if (def.type === 'enum' || def.type === 'literal' || def.type === 'string') return 'string';
  if (def.type === 'optional' || def.type === 'default') return kindOf(def.innerType!);
  return def.type;
}

function kindName(schema: z.ZodType): string {
  const kind = kindOf(schema);
  if (kind === 'null') return kind;
  return kind === 'string' ? 'a name' : article(kind);
}

function acceptsValue(option: z.ZodType, value: unknown): boolean {
  const kind = kindOf(option);
  if (kind === 'mapping') return isMapping(value);
  if (kind === 'list') return Array.isArray(value);
  if (kind === 'union') return true;
  if (kind === 'literal' || option.safeParse(value).success) return true;
  return kind === typeof value;
}

function keysInCommon(option: z.ZodType, value: unknown): number {
  const { def } = option as z.ZodType & { def: Definition };
  if (def.shape && isMapping(value)) return Object.keys(value).filter((key) => Object.hasOwn(def.shape!, key)).length;
  return option.safeParse(value).success ? 1 : 0;
}

const isRequired = (schema: z.ZodType): boolean => !schema.safeParse(undefined).success;

const article = (kind: string): string =>
  kind === 'int' ? 'a whole number' : /^[aeio]/.test(kind) ? `an ${kind}` : `a ${kind}`;

function show(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (isMapping(value)) return 'a mapping';
  if (value === undefined || value === null) return 'nothing';
  return typeof value === 'bigint' ? `${value}n` : JSON.stringify(value);
}
