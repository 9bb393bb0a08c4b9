import { escapeInvisibleInJson, excerpt, shorten } from '../base/text.ts';
import type { Entry } from '../evidence/entry.ts';
import type { EntryDetail } from './view-state.ts';

/** Longest text inside of an entry, and longest entry, in characters. */
const MAX_CHARS = { text: 2_000, body: 12_000 };

/** An entry's body for a reader: indented JSON with long texts cut and invisible characters escaped. */
export function entryDetailOf({ seq, at, author, body }: Entry): EntryDetail {
  const cut = (_: string, value: unknown) => (typeof value === 'string' ? shorten(value, MAX_CHARS.text) : value);
  const text = escapeInvisibleInJson(JSON.stringify(body, cut, 2));
  return { seq, at, author: excerpt(author, 80), body: shorten(text, MAX_CHARS.body) };
}
