import { fieldsOf } from '../../base/json.ts';
import type { EntryDraft } from '../../evidence/entry.ts';
import type { Json } from '../../spec/types.ts';

export function eventOfBody(body: Json): string | null {
  const { event } = fieldsOf(body);
  return typeof event === 'string' ? event : null;
}

/** The facts of a session that survive the erasure of its first entry. `pin` is empty for imported evidence. */
export interface StoredSessionFacts {
  readonly agent: string;
  readonly pin: string;
}

export function sessionFactsOfEntry({ body, author }: Pick<EntryDraft, 'body' | 'author'>): StoredSessionFacts {
  const { agent, pin } = fieldsOf(body);
  return { agent: typeof agent === 'string' ? agent : author, pin: typeof pin === 'string' ? pin : '' };
}
