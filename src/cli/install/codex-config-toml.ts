import { isDeepStrictEqual } from 'node:util';
import { parse } from 'smol-toml';
import { printTomlLiteral, printTomlString, type TomlValue } from '../../adapters/codex/toml.ts';
import { isObject } from '../../base/json.ts';
import { mapValues } from '../../base/map-values.ts';
import { valueOr } from '../../base/value-or.ts';
import { CliError } from '../io.ts';

type Table = { readonly [key: string]: unknown };

export interface CodexConfigAdditions {
  /** The name of hopgate's block: a file may have one for the server, and one for each trusted repository. */
  readonly block: string;
  readonly tables: readonly {
    readonly path: readonly string[];
    readonly values: { readonly [key: string]: TomlValue };
  }[];
  readonly features: readonly string[];
}

const beginLine = (block: string): string =>
  `# >>> ${block} >>> written by "hopgate install codex", removed by "hopgate uninstall codex"`;
const endLine = (block: string): string => `# <<< ${block} <<<`;
const MARK = '# hopgate';

/**
 * Appends hopgate's block to config.toml, and enables its features. Comments, order and every other value stay the
 * same: the parsed new text without hopgate's values is compared with the parsed old text.
 * @throws CliError `malformed` if the file cannot be parsed; `taken` if it has a table of this name that hopgate did
 *   not write, or if no feature can be added to it
 */
export function addToCodexConfig(path: string, text: string | null, additions: CodexConfigAdditions): string {
  const { block, tables, features } = additions;
  const plain = removeFromCodexConfig(path, text ?? '', block, features) ?? '';
  const before = parseConfig(path, plain);
  for (const table of tables)
    if (valueAt(before, table.path) !== undefined)
      throw new CliError(
        'taken',
        `${path} has a table "${table.path.join('.')}" that hopgate did not write`,
        'Remove it, or rename it, and install again.',
      );
  const missing = features.filter((name) => valueAt(before, ['features', name]) === undefined);
  const { text: featured, inBlock } = withFeatures(path, plain, before, missing);
  // An empty line separates the block, unless the last line had no line end. So removal can restore the exact text.
  const gap = featured === '' ? '' : `${featured}\n`;
  const lines = [
    beginLine(block),
    ...(inBlock.length > 0 ? ['[features]', ...inBlock.map((name) => `${name} = true`)] : []),
    ...tables.flatMap(({ path: keys, values }) => [
      `[${keys.map(bareOrQuoted).join('.')}]`,
      ...Object.entries(values).map(([key, value]) => `${bareOrQuoted(key)} = ${printTomlLiteral(value)}`),
    ]),
    endLine(block),
  ];
  const after = `${gap}${lines.join('\n')}\n`;
  if (!losesNoValue(before, parseConfig(path, after), additions, missing))
    throw new Error(`${path} would lose a value, so it is not changed`);
  return after;
}

/** Removes hopgate's block and marked lines from config.toml, and restores the earlier bytes; null if none remain. */
export function removeFromCodexConfig(
  path: string,
  text: string,
  block: string,
  features: readonly string[],
): string | null {
  parseConfig(path, text);
  const lines = text.split('\n');
  const from = lines.findIndex((line) => line.startsWith(`# >>> ${block} >>>`));
  const to = lines.indexOf(endLine(block), from);
  if (from < 0 || to < 0) return text;
  const above = lines.slice(0, from);
  const below = lines.slice(to + 1);
  const setOff = above.at(-1) === '';
  if (setOff) above.pop();
  else if (above.length > 0 ? below.length === 1 && below[0] === '' : below.length > 1 && below[0] === '')
    below.shift();
  const restored = [...above.filter((line) => !features.some((name) => isOurFeature(line, name))), ...below].join('\n');
  return restored.trim() === '' ? null : restored;
}

const isOurFeature = (line: string, name: string): boolean =>
  line === `${name} = true ${MARK}` || line === `features.${name} = true ${MARK}`;

/** Adds hopgate's features to an existing `[features]` table, because a second such table is an error. */
function withFeatures(
  path: string,
  text: string,
  before: Table,
  names: readonly string[],
): { text: string; inBlock: readonly string[] } {
  if (names.length === 0 || before['features'] === undefined) return { text, inBlock: names };
  const lines = text.split('\n');
  const header = lines.findIndex((line) => /^\s*\[\s*features\s*\]\s*(?:#.*)?$/.test(line));
  const dotted = lines.findIndex((line) => /^\s*features\s*\./.test(line));
  const [at, prefix] = header >= 0 ? [header + 1, ''] : [dotted, 'features.'];
  const added =
    at < 0
      ? null
      : [...lines.slice(0, at), ...names.map((name) => `${prefix}${name} = true ${MARK}`), ...lines.slice(at)].join(
          '\n',
        );
  const features = { ...(before['features'] as Table), ...Object.fromEntries(names.map((name) => [name, true])) };
  if (
    added !== null &&
    hasSameTables(
      valueOr(() => parse(added), null),
      { ...before, features },
    )
  )
    return { text: added, inBlock: [] };
  throw new CliError(
    'taken',
    `${path} writes its features in a form that hopgate cannot extend`,
    `Add ${names.map((name) => `${name} = true`).join(', ')} there yourself, and install again.`,
  );
}

function losesNoValue(
  before: Table,
  after: Table,
  { tables }: CodexConfigAdditions,
  features: readonly string[],
): boolean {
  const stripped = plainTables(after) as { [key: string]: unknown };
  for (const { path } of tables) remove(stripped, path);
  for (const name of features) remove(stripped, ['features', name]);
  return isDeepStrictEqual(dropEmptyTables(stripped), dropEmptyTables(plainTables(before)));
}

function remove(table: { [key: string]: unknown }, [key, ...rest]: readonly string[]): void {
  if (key === undefined) return;
  if (rest.length === 0) delete table[key];
  else if (isObject(table[key])) remove(table[key] as { [key: string]: unknown }, rest);
}

/** Drops empty tables, because removing hopgate's keys leaves such tables. */
function dropEmptyTables(value: unknown): unknown {
  if (!isPlain(value)) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, dropEmptyTables(item)] as const);
  return Object.fromEntries(entries.filter(([, item]) => !(isPlain(item) && Object.keys(item).length === 0)));
}

const hasSameTables = (a: unknown, b: unknown): boolean => isDeepStrictEqual(plainTables(a), plainTables(b));

/** Converts the parser's tables to ordinary objects; dates stay dates. */
function plainTables(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainTables);
  return isPlain(value) ? mapValues(value, (item) => plainTables(item)) : value;
}

const isPlain = (value: unknown): value is Table => isObject(value) && !(value instanceof Date);

function parseConfig(path: string, text: string): Table {
  try {
    return parse(text);
  } catch (cause) {
    const [why] = (cause as Error).message.split('\n');
    throw new CliError('malformed', `${path} is not TOML: ${why}`, 'Correct it; nothing was changed.', { cause });
  }
}

/** The value at a path of keys; undefined if there is none. */
function valueAt(table: Table, path: readonly string[]): unknown {
  let value: unknown = table;
  for (const key of path) value = isObject(value) ? value[key] : undefined;
  return value;
}

const bareOrQuoted = (key: string): string => (/^[A-Za-z0-9_-]+$/.test(key) ? key : printTomlString(key));
