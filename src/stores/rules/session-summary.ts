import { isObject } from '../../base/json.ts';
import type { EntryDraft, StoredEntry } from '../../evidence/entry.ts';
import type { SessionLabel, SessionSummary } from '../../ports/evidence-store.ts';
import type { Json } from '../../spec/types.ts';
import type { LeaseRow } from './append-rules.ts';

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

export type StoredLabel = Required<SessionLabel>;

export function sessionFactsOfEntry({ body, author }: Pick<EntryDraft, 'body' | 'author'>): StoredSessionFacts {
  const agent = fieldOf(body, 'agent');
  const pin = fieldOf(body, 'pin');
  return { agent: typeof agent === 'string' ? agent : author, pin: typeof pin === 'string' ? pin : '' };
}

/** Builds the summary of a session in the list of sessions, from its first and last entries. */
export function summariseSession(
  { agent, pin, name, archived }: StoredSessionFacts & StoredLabel,
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
    erased: first.body === null,
    name,
    archived,
  };
}
