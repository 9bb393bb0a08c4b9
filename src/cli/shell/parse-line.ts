import { parseArgsStringToArgv } from 'string-argv';
import type { Json, ToolSpec } from '../../spec/types.ts';

export interface ShellLine {
  readonly verb: string;
  readonly words: readonly string[];
  /** `--exit ready-to-edit` becomes `exit: ready-to-edit`; a flag without a value is true. */
  readonly options: { readonly [name: string]: string | true };
}

/** Verbs whose rest is one text instead of words: a shell command with its pipes and quotes. */
const RAW = new Set(['bash', 'bash-readonly']);

/**
 * One line of the shell: a verb, words, and `--name value` options. The rest of a `bash` line is kept unchanged.
 *
 * @example parseLine('hop edit --exit ready-to-edit') // verb hop, words [edit], options { exit: 'ready-to-edit' }
 */
export function parseLine(line: string): ShellLine {
  const [, first = '', rest = ''] = /^\s*(\S+)\s*(.*)$/s.exec(line) ?? [];
  if (RAW.has(first)) return { verb: first, words: rest === '' ? [] : [rest], options: {} };
  const [verb = '', ...given] = parseArgsStringToArgv(line);
  const words: string[] = [];
  const options: Record<string, string | true> = {};
  const takesOptions = verb === 'hop' || verb === 'mode' || verb === 'stop' || verb === 'start';
  for (let index = 0; index < given.length; index += 1) {
    const word = given[index] ?? '';
    if (!takesOptions || !/^--[a-z]/.test(word)) {
      words.push(word);
      continue;
    }
    const next = given[index + 1];
    const hasValue = next !== undefined && !next.startsWith('--');
    options[word.slice(2)] = hasValue ? next : true;
    if (hasValue) index += 1;
  }
  return { verb, words, options };
}

/** Parses typed arguments: in order, or `name=value`. The schema decides which are numbers and booleans. */
export function parseArguments(
  tool: ToolSpec | undefined,
  words: readonly string[],
): { [name: string]: Json } | Json[] {
  if (!tool) return [...words];
  const named: Record<string, Json> = {};
  const rest: string[] = [];
  for (const word of words) {
    const [, name = '', value = ''] = /^([a-z][a-z0-9-]*)=(.*)$/s.exec(word) ?? [];
    const parameter = tool.parameters.find((candidate) => candidate.name === name);
    if (parameter) named[name] = typed(value, parameter.schema);
    else rest.push(word);
  }
  const open = tool.parameters.filter(({ name }) => !Object.hasOwn(named, name));
  for (const [index, parameter] of open.entries()) {
    const value = rest[index];
    if (value === undefined) break;
    const last = index === open.length - 1;
    const takesList = isList(parameter.schema);
    if (takesList) {
      named[parameter.name] = rest.slice(index);
      return named;
    }
    named[parameter.name] = typed(last ? rest.slice(index).join(' ') : value, parameter.schema);
  }
  if (rest.length > open.length && open.length === 0) return [...words];
  return named;
}

const typesOf = (schema: ToolSpec['parameters'][number]['schema']): string[] => {
  const options = Array.isArray(schema['anyOf']) ? (schema['anyOf'] as { [key: string]: Json }[]) : [schema];
  return options.flatMap((option) => [option['type'] ?? []].flat()).map(String);
};

const isList = (schema: ToolSpec['parameters'][number]['schema']): boolean => typesOf(schema).includes('array');

function typed(value: string, schema: ToolSpec['parameters'][number]['schema']): Json {
  const types = typesOf(schema);
  if ((types.includes('integer') || types.includes('number')) && /^-?\d+(\.\d+)?$/.test(value)) return Number(value);
  if (types.includes('boolean') && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}
