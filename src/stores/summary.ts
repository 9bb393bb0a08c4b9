import type { StoredEntry } from '../evidence/entry.ts';
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

/** A session as a list shows it, from its first and last entries. */
export function summarise(
  first: StoredEntry['entry'],
  last: StoredEntry['entry'],
  closed: boolean,
  lease: LeaseRow | null,
  now: number,
): SessionSummary {
  const agent = fieldOf(first.body, 'agent');
  const pin = fieldOf(first.body, 'pin');
  return {
    sessionId: first.sessionId,
    agent: typeof agent === 'string' ? agent : first.author,
    openedAt: first.at,
    lastAt: last.at,
    entries: last.seq + 1,
    head: { seq: last.seq, hash: last.hash },
    closed,
    pin: typeof pin === 'string' ? pin : '',
    lease: lease !== null && lease.until > now ? { holder: lease.holder, until: lease.until } : null,
  };
}
