export type TomlValue = string | number | boolean | readonly TomlValue[] | { readonly [key: string]: TomlValue };

/** Writes a value on one line, for `-c key=value`: strings as in JSON, tables inline, every key quoted. */
export function printTomlLiteral(value: TomlValue): string {
  if (typeof value === 'string') return printTomlString(value);
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (isList(value)) return `[${value.map(printTomlLiteral).join(', ')}]`;
  return `{${Object.entries(value)
    .map(([key, item]) => `${printTomlString(key)} = ${printTomlLiteral(item)}`)
    .join(', ')}}`;
}

const isList = (value: TomlValue): value is readonly TomlValue[] => Array.isArray(value);

/** Writes a basic string. JSON's escapes are valid in TOML; TOML also requires DEL to be escaped. */
export const printTomlString = (text: string): string => JSON.stringify(text).replaceAll('\u007f', '\\u007f');
