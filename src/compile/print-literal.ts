import type { Json } from '../spec/types.ts';

const WIDTH = 120;

/**
 * Prints a JSON value as a TypeScript literal in Biome's layout (two spaces, single quotes, width 120), so that the
 * formatter leaves generated files unchanged. The literal starts at `column`; `after` characters follow its last line.
 */
export function printTypeScriptLiteral(value: Json, indent = 0, column = 0, after = 0): string {
  const flat = printFlat(value);
  if (flat !== null && column + flat.length + after <= WIDTH) return flat;
  if (value === null || typeof value !== 'object') return flat ?? '';
  const inner = ' '.repeat(indent + 2);
  const lines = Array.isArray(value)
    ? value.map((item) => `${inner}${printTypeScriptLiteral(item, indent + 2, indent + 2, 1)},`)
    : Object.entries(value).map(([key, item]) => `${inner}${printMember(printKey(key), item, indent + 2)},`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${open}\n${lines.join('\n')}\n${' '.repeat(indent)}${close}`;
}

function printMember(key: string, item: Json, indent: number): string {
  const column = indent + key.length + 2;
  const literal = printTypeScriptLiteral(item, indent, column, 1);
  // A string that does not fit goes to its own line, unless its key is so short that the gain would be small.
  const isLone = typeof item === 'string' && key.length > 4 && column + literal.length + 1 > WIDTH;
  return isLone ? `${key}:\n${' '.repeat(indent + 2)}${literal}` : `${key}: ${literal}`;
}

/** Prints the value on one line; null if it must be broken. */
function printFlat(value: Json): string | null {
  if (value === null || typeof value !== 'object')
    return typeof value === 'string' ? printStringLiteral(value) : String(value);
  if (Array.isArray(value)) return isBroken(value) ? null : encloseParts('[', value.map(printFlat), ']', '');
  const members = Object.entries(value).map(([key, item]) => {
    const flat = printFlat(item);
    return flat === null ? null : `${printKey(key)}: ${flat}`;
  });
  return encloseParts('{', members, '}', ' ');
}

/** True for a list that the formatter always breaks: several objects, each with several members. */
const isBroken = (list: readonly Json[]): boolean =>
  list.length > 1 && list.every((item) => typeof item === 'object' && item !== null && Object.keys(item).length > 1);

function encloseParts(open: string, parts: readonly (string | null)[], close: string, pad: string): string | null {
  if (parts.length === 0) return open + close;
  return parts.includes(null) ? null : `${open}${pad}${parts.join(', ')}${pad}${close}`;
}

const printKey = (key: string): string => (/^[A-Za-z_$][\w$]*$/.test(key) ? key : printStringLiteral(key));

/** Single quotes, unless double quotes need fewer escapes. */
export function printStringLiteral(text: string): string {
  const count = (mark: string) => text.split(mark).length - 1;
  const quote = count("'") > count('"') ? '"' : "'";
  const body = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll(quote, `\\${quote}`);
  return quote + body.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029') + quote;
}
