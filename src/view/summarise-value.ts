import { fieldsOf, isObject, type Json } from '../base/json.ts';
import { escapeInvisible, excerpt } from '../base/text.ts';

export type OptionalJsonFields = { readonly [key: string]: Json | undefined };

const LENGTH = 80;

/** Summarises a value in one line: a list by the names of its items, an object by the names of its fields. */
export function summariseValue(value: Json | undefined): string {
  if (typeof value === 'string') return excerpt(value, LENGTH);
  if (Array.isArray(value)) {
    const all = escapeInvisible(value.map(nameOf).join(', '));
    return value.length === 0 ? 'none' : [...all].length <= LENGTH ? all : `${value.length}: ${excerpt(all, LENGTH)}`;
  }
  if (isObject(value) && value['event/type'] === 'session/par') return 'review';
  if (typeof value === 'object' && value !== null) return excerpt(Object.keys(value).join(', '), LENGTH) || 'nothing';
  return excerpt(JSON.stringify(value) ?? '', LENGTH);
}

function nameOf(value: Json): string {
  if (typeof value === 'string') return value;
  const { name, path, id } = fieldsOf(value);
  const named = [name, path, id].find((one) => typeof one === 'string');
  return (named as string | undefined) ?? JSON.stringify(value);
}
