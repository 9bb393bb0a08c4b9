import { isObject, parseJson } from '../../base/json.ts';
import type { Fields, Json, ToolSpec } from '../../spec/types.ts';

export interface ShellLine {
  readonly verb: string;
  readonly words: readonly string[];
  /** For each word, the number of characters before its first quote or escape. */
  readonly unquoted: readonly number[];
  /** `--exit ready-to-edit` becomes `exit: ready-to-edit`; a flag without a value is true. */
  readonly options: { readonly [name: string]: string | true };
  /** The arguments, if the person typed them as one JSON object. */
  readonly json?: Fields;
  /** A mistake in the quoting; null if there is none. */
  readonly problem: string | null;
}

/** Verbs after which the rest of the line is one text: a shell command with its pipes and quotes. */
const RAW = new Set(['bash', 'bash-readonly']);

/**
 * Parses one line of the shell: a verb, words, and `--name value` options. The rest of a `bash` line is kept unchanged,
 * unless it is a single `command="…"` or a single quoted text that contains a space, because no program has such a
 * name.
 *
 * @example parseLine('hop edit --exit ready-to-edit') // verb hop, words [edit], options { exit: 'ready-to-edit' }
 */
export function parseLine(line: string): ShellLine {
  const [, first = '', rest = ''] = /^\s*(\S+)\s*(.*)/s.exec(line) ?? [];
  const takesOptions = ['hop', 'mode', 'stop', 'start'].includes(first);
  const json = !takesOptions && rest.startsWith('{') ? parseJson(rest) : undefined;
  if (isObject(json)) return { verb: first, words: [], unquoted: [], options: {}, json, problem: null };
  const split = splitQuotedWords(RAW.has(first) ? rest : line);
  if (RAW.has(first)) {
    const only = split.words.length === 1 && split.problem === null ? split.words[0]! : null;
    const isNamed = only !== null && rest.startsWith('command=');
    const isQuoted = only !== null && /^["']/.test(rest) && /\s/.test(only);
    const command = isNamed ? only.slice('command='.length) : isQuoted ? only : rest;
    return { verb: first, words: rest === '' ? [] : [command], unquoted: [0], options: {}, problem: null };
  }
  const [verb = '', ...typed] = split.words;
  const words: string[] = [];
  const unquoted: number[] = [];
  const options: Record<string, string | true> = {};
  for (let index = 0; index < typed.length; index += 1) {
    const word = typed[index] ?? '';
    if (!takesOptions || !/^--[a-z]/.test(word)) {
      words.push(word);
      unquoted.push(split.unquoted[index + 1] ?? 0);
      continue;
    }
    const next = typed[index + 1];
    const hasValue = next !== undefined && !next.startsWith('--');
    options[word.slice(2)] = hasValue ? next : true;
    if (hasValue) index += 1;
  }
  return { verb, words, unquoted, options, problem: split.problem };
}

/**
 * Splits a line into words as a POSIX shell does, but without expansions: quotes group, a backslash takes the next
 * character literally (in double quotes only `"`, `\` and a line break).
 */
function splitQuotedWords(line: string): Pick<ShellLine, 'words' | 'unquoted' | 'problem'> {
  const words: string[] = [];
  const unquoted: number[] = [];
  let word: string | null = null;
  let bare: number | null = null;
  let quote: string | null = null;
  const end = (): void => {
    if (word !== null) unquoted.push(bare ?? word.length);
    if (word !== null) words.push(word);
    word = null;
    bare = null;
  };
  for (let at = 0; at < line.length; at += 1) {
    const char = line[at]!;
    const next = line[at + 1];
    const escapes =
      char === '\\' && next !== undefined && (quote === null || (quote === '"' && '"\\\n'.includes(next)));
    if (escapes || char === quote || (quote === null && (char === '"' || char === "'"))) bare ??= word?.length ?? 0;
    if (escapes && quote !== "'") {
      word = (word ?? '') + next;
      at += 1;
    } else if (char === quote) quote = null;
    else if (quote === null && (char === '"' || char === "'")) {
      quote = char;
      word ??= '';
    } else if (quote === null && /\s/.test(char)) end();
    else word = (word ?? '') + char;
  }
  end();
  return { words, unquoted, problem: quote === null ? null : `the quote ${quote} is not closed` };
}

/**
 * Parses typed arguments: in order, or `name=value` and `--name value` if the tool has a parameter of that name. Its
 * schema decides which are numbers and booleans, and JSON lists and objects. Words without a parameter belong to the
 * last parameter if that is a text.
 * @param unquoted as in {@link ShellLine}; a name in quotes is part of a value
 */
export function parseArguments(
  tool: ToolSpec | undefined,
  words: readonly string[],
  unquoted: readonly number[] = words.map((word) => word.length),
): { [name: string]: Json } | Json[] {
  if (!tool) return [...words];
  const named: Record<string, Json> = {};
  const rest: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]!;
    const [, dashes = '', name = '', given] = /^(--)?([a-z][a-z0-9-]*)(?:=(.*))?$/s.exec(word) ?? [];
    const value = given ?? (dashes ? words[at + 1] : undefined);
    const parameter = tool.parameters.find((candidate) => candidate.name === name);
    const isBare = dashes.length + name.length + (given === undefined ? 0 : 1) <= (unquoted[at] ?? 0);
    if (parameter && value !== undefined && isBare && !Object.hasOwn(named, name)) {
      named[name] = typedValue(value, parameter.schema);
      if (given === undefined) at += 1;
    } else rest.push(word);
  }
  const open = tool.parameters.filter(({ name }) => !Object.hasOwn(named, name));
  const last = open.at(-1);
  const takesRest = last !== undefined && (isList(last.schema) || typesOf(last.schema).includes('string'));
  if (rest.length > open.length && !takesRest) return [...words];
  for (const [index, { name, schema }] of open.entries()) {
    const value = rest[index];
    if (value === undefined) break;
    const parsed = typedValue(index === open.length - 1 ? rest.slice(index).join(' ') : value, schema);
    // A single word for `command` is a whole command line, typed in quotes.
    const isLine = name === 'command' && rest.length === index + 1;
    if (isList(schema) && !isLine && typeof parsed === 'string') return { ...named, [name]: rest.slice(index) };
    named[name] = parsed;
  }
  return named;
}

/**
 * Returns the first `--name` outside of quotes that is not a parameter of the tool; null if there is none, or if the
 * tool takes a command or a list, to which the option may belong.
 *
 * @example findUnknownParameter(grep, ['TODO', '--max', '5'], [4, 5, 1]) // '--max'
 */
export function findUnknownParameter(
  { parameters }: ToolSpec,
  words: readonly string[],
  unquoted: readonly number[],
): string | null {
  if (parameters.some(({ name, schema }) => name === 'command' || isList(schema))) return null;
  for (const [index, word] of words.entries()) {
    const option = /^--[a-z][a-z0-9-]*(?==|$)/.exec(word)?.[0];
    if (option === undefined || option.length > (unquoted[index] ?? 0)) continue;
    if (!parameters.some(({ name }) => `--${name}` === option)) return option;
  }
  return null;
}

const typesOf = (schema: ToolSpec['parameters'][number]['schema']): string[] => {
  const options = Array.isArray(schema['anyOf']) ? (schema['anyOf'] as { [key: string]: Json }[]) : [schema];
  return options.flatMap((option) => [option['type'] ?? []].flat()).map(String);
};

const isList = (schema: ToolSpec['parameters'][number]['schema']): boolean => typesOf(schema).includes('array');

function typedValue(value: string, schema: ToolSpec['parameters'][number]['schema']): Json {
  const types = typesOf(schema);
  const json = /^[[{]/.test(value) ? parseJson(value) : undefined;
  if (Array.isArray(json) ? types.includes('array') : isObject(json) && types.includes('object')) return json as Json;
  if ((types.includes('integer') || types.includes('number')) && /^-?\d+(\.\d+)?$/.test(value)) return Number(value);
  if (types.includes('boolean') && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}
