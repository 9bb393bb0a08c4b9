/** A value as TOML writes it. */
export type TomlValue = string | number | boolean | readonly TomlValue[] | { readonly [key: string]: TomlValue };

/** A value on one line, as `-c key=value` takes it: strings as JSON writes them, tables inline, every key quoted. */
export function tomlLiteral(value: TomlValue): string {
  if (typeof value === 'string') return tomlString(value);
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (isList(value)) return `[${value.map(tomlLiteral).join(', ')}]`;
  return `{${Object.entries(value)
    .map(([key, item]) => `${tomlString(key)} = ${tomlLiteral(item)}`)
    .join(', ')}}`;
}

const isList = (value: TomlValue): value is readonly TomlValue[] => Array.isArray(value);

/** A basic string: JSON's escapes are TOML's, but for DEL, which TOML wants escaped. */
export const tomlString = (text: string): string => JSON.stringify(text).replaceAll('\u007f', '\\u007f');
