import { isObject } from '../../base/json.ts';
import type { EntryDraft } from '../../evidence/entry.ts';
import type { Json } from '../../spec/types.ts';

export function eventOfBody(body: Json): string | null {
  const event = fieldOf(body, 'event');
  return typeof event === 'string' ? event : null;
}

const fieldOf = (body: Json, key: 'event' | 'agent' | 'pin'): Json | undefined =>
  isObject(body) ? body[key] : undefined;

/** The facts of a session that survive the erasure of its first entry. `pin` is empty for imported evidence. */
export interface StoredSessionFacts {
  readonly agent: string;
  readonly pin: string;
}

export function sessionFactsOfEntry({ body, author }: Pick<EntryDraft, 'body' | 'author'>): StoredSessionFacts {
  const agent = fieldOf(body, 'agent');
  const pin = fieldOf(body, 'pin');
  return { agent: typeof agent === 'string' ? agent : author, pin: typeof pin === 'string' ? pin : '' };
}
