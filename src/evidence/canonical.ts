import type { Json } from '../spec/types.ts';

/**
 * The RFC 8785 form of a JSON value whose texts are well-formed Unicode: keys in the order of their UTF-16 units,
 * numbers and strings as `JSON.stringify` writes them.
 */
export const canonicalJson = (value: Json): string =>
  isOrdered(value) ? JSON.stringify(value) : canonicalValue(value);

/** The object's own keys in canonical order. */
export function canonicalKeys(value: object): readonly string[] {
  const keys = Object.keys(value);
  for (let index = 1; index < keys.length; index++) if (keys[index]! < keys[index - 1]!) return keys.sort();
  return keys;
}

/** True if every object's keys are already in canonical order. */
function isOrdered(value: Json): boolean {
  if (value === null || typeof value !== 'object') return true;
  if (Array.isArray(value)) {
    for (const member of value) if (!isOrdered(member)) return false;
    return true;
  }
  let last: string | null = null;
  for (const key of Object.keys(value)) {
    if (last !== null && key < last) return false;
    last = key;
    if (!isOrdered(value[key]!)) return false;
  }
  return true;
}

function canonicalValue(value: Json): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalValue).join(',')}]`;
  let text = '';
  for (const key of canonicalKeys(value))
    text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonicalValue(value[key]!)}`;
  return `{${text}}`;
}
