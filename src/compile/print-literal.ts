import type { Json } from '../spec/types.ts';

const WIDTH = 120;

/**
 * A JSON value as a TypeScript literal, laid out as Biome does it (two spaces, single quotes, width 120), so that the formatter leaves
 * generated files alone. `column` is where the literal starts, `after` how many characters follow it on its last line.
 */
export function printLiteral(value: Json, indent = 0, column = 0, after = 0): string {
  const flat = printFlat(value);
  if (flat !== null && column + flat.length + after <= WIDTH) return flat;
  if (value === null || typeof value !== 'object') return flat ?? '';
  const inner = ' '.repeat(indent + 2);
  const lines = Array.isArray(value)
    ? value.map((item) => `${inner}${printLiteral(item, indent + 2, indent + 2, 1)},`)
    : Object.entries(value).map(([key, item]) => {
        const head = `${inner}${printKey(key)}: `;
        const literal = printLiteral(item, indent + 2, head.length, 1);
        // A string that does not fit goes to a line of its own.
        return typeof item === 'string' && head.length + literal.length + 1 > WIDTH
          ? `${head.trimEnd()}\n${inner}  ${literal},`
          : `${head}${literal},`;
      });
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${open}\n${lines.join('\n')}\n${' '.repeat(indent)}${close}`;
}

/** On one line; null where the layout has to be broken: a state chart's objects, a list of several objects. */
function printFlat(value: Json): string | null {
  if (value === null || typeof value !== 'object')
    return typeof value === 'string' ? printString(value) : String(value);
  if (Array.isArray(value)) {
    if (
      value.length > 1 &&
      value.every((item) => typeof item === 'object' && item !== null && Object.keys(item).length > 1)
    )
      return null;
    return enclose('[', value.map(printFlat), ']', '');
  }
  const members = Object.entries(value).map(([key, item]) => {
    const flat = printFlat(item);
    return flat === null ? null : `${printKey(key)}: ${flat}`;
  });
  return enclose('{', members, '}', ' ');
}

function enclose(open: string, parts: readonly (string | null)[], close: string, pad: string): string | null {
  if (parts.length === 0) return open + close;
  return parts.includes(null) ? null : `${open}${pad}${parts.join(', ')}${pad}${close}`;
}

const printKey = (key: string): string => (/^[A-Za-z_$][\w$]*$/.test(key) ? key : printString(key));

/** Single quotes, unless double quotes need fewer escapes. */
export function printString(text: string): string {
  const count = (mark: string) => text.split(mark).length - 1;
  const quote = count("'") > count('"') ? '"' : "'";
  const body = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll(quote, `\\${quote}`);
  return quote + body.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029') + quote;
}
