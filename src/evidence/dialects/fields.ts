import { isObject, type Json } from '../../base/json.ts';

/** A record of any dialect with normalised keys: `psr/id`, `:psr/id`, `psr_id` → `psr-id`; `success?` → `success`. */
export type DialectRecord = { readonly [field: string]: Json | undefined };

/** Returns the record with normalised keys; null if the value is not a record. */
export function toDialectRecord(value: unknown): DialectRecord | null {
  if (!isObject(value)) return null;
  return Object.fromEntries(
    Object.entries(value as { [key: string]: Json }).map(([key, field]) => [plain(key), field]),
  );
}

const plain = (key: string): string =>
  key
    .replace(/^:/, '')
    .replace(/\?$/, '')
    .replaceAll(/[/_\s]/g, '-')
    .toLowerCase();

/** Returns the value of the first of these fields that the record has. */
export const readFirstField = (fields: DialectRecord, names: readonly string[]): Json | undefined => {
  for (const name of names) if (fields[name] !== undefined && fields[name] !== null) return fields[name];
  return undefined;
};

/** Returns a string, number or EDN keyword as a string; null for blanks and any other value. */
export function readFieldText(value: Json | undefined): string | null {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string') return null;
  const trimmed = value.trim().replace(/^:(?=\S)/, '');
  return trimmed === '' ? null : trimmed;
}

/** Converts a list, or a single value, to a list of strings. Objects become JSON. */
export function readFieldTexts(value: Json | undefined): string[] {
  if (value === undefined || value === null) return [];
  const items = Array.isArray(value) ? value : [value];
  return items.flatMap((item) => {
    if (item === null) return [];
    return readFieldText(item) ?? (typeof item === 'object' ? JSON.stringify(item) : []);
  });
}

const LEVELS: { readonly [word: string]: number } = { none: 0, low: 0.25, medium: 0.5, high: 1 };

/** Reads the size of a prediction error, 0 to 1: a number, or none (0), low, medium or high (1); else null. */
export function readErrorSize(value: Json | undefined): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? Math.min(1, Math.max(0, value)) : null;
  const word = readFieldText(value)?.toLowerCase() ?? '';
  if (Object.hasOwn(LEVELS, word)) return LEVELS[word] ?? null;
  return word !== '' && Number.isFinite(Number(word)) ? readErrorSize(Number(word)) : null;
}

/** Returns the id of the pattern that a value names: an id, or a reference (`{ ref/type pattern, ref/id … }`). */
export function readPatternId(value: Json | undefined): string | null {
  const reference = toDialectRecord(value);
  return readFieldText(reference ? readFirstField(reference, ['ref-id', 'id', 'pattern-id', 'pattern']) : value);
}
