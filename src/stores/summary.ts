import type { EntryDraft, StoredEntry } from '../evidence/entry.ts';
import type { SessionSummary } from '../ports/evidence-store.ts';
import type { Json } from '../spec/types.ts';
import type { LeaseRow } from './append-rules.ts';

/** The event that an entry's body tells of, if it does. */
export function eventOf(body: Json): string | null {
  const event = fieldOf(body, 'event');
  return typeof event === 'string' ? event : null;
}

function fieldOf(body: Json, key: string): Json | undefined {
  if (body === null || typeof body !== 'object' || Array.isArray(body) || !Object.hasOwn(body, key)) return undefined;
  return body[key];
}

/** What a session's first entry says of it and what outlasts its erasure. `pin` is empty for foreign evidence. */
export interface SessionFacts {
  readonly agent: string;
  readonly pin: string;
}

export function sessionFacts({ body, author }: Pick<EntryDraft, 'body' | 'author'>): SessionFacts {
  const agent = fieldOf(body, 'agent');
  const pin = fieldOf(body, 'pin');
  return { agent: typeof agent === 'string' ? agent : author, pin: typeof pin === 'string' ? pin : '' };
}

/** A session as a list shows it, from its first and last entries. */
export function summarise(
  { agent, pin }: SessionFacts,
  first: StoredEntry['entry'],
  last: StoredEntry['entry'],
  closed: boolean,
  lease: LeaseRow | null,
  now: number,
): SessionSummary {
  return {
    sessionId: first.sessionId,
    agent,
    openedAt: first.at,
    lastAt: last.at,
    entries: last.seq + 1,
    head: { seq: last.seq, hash: last.hash },
    closed,
    pin,
    lease: lease !== null && lease.until > now ? { holder: lease.holder, until: lease.until } : null,
  };
}
