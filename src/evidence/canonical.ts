import type { Json } from '../spec/types.ts';

/**
 * The RFC 8785 form of a JSON value whose texts are well-formed Unicode: keys in the order of their UTF-16 units,
 * numbers and strings as `JSON.stringify` writes them.
 */
export function canonicalJson(value: Json): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const members = Object.keys(value).sort();
  return `{${members.map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key]!)}`).join(',')}}`;
}
