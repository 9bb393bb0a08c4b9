import { createRequire } from 'node:module';
import { memoise } from '../base/lazy.ts';
import {
  CLAIM_TYPES,
  type ClaimType,
  type EntryDraft,
  EVIDENCE_TYPES,
  type EvidenceType,
  type StoredEntry,
  SUBJECT_TYPES,
  type Subject,
} from './entry.ts';

/** A search for entries. An entry must match every given field. The newest entries come first. */
export interface EvidenceQuery {
  readonly subject?: Subject;
  readonly type?: EvidenceType;
  readonly claim?: ClaimType;
  readonly author?: string;
  readonly sessionId?: string;
  /** null finds entries outside of any peripheral. */
  readonly peripheral?: string | null;
  readonly patternId?: string;
  /** Finds entries that have all of these tags. */
  readonly tags?: readonly string[];
  /** Finds entries of this time or later: ISO 8601, UTC. */
  readonly since?: string;
  /** Finds entries before this time: ISO 8601, UTC. */
  readonly before?: string;
  /** Also finds ephemeral entries; default false. */
  readonly ephemeral?: boolean;
  /** True to leave out entries that cannot be read, which otherwise fail the query; {@link QueryPage} counts them. */
  readonly skipUnreadable?: boolean;
  /** The entries of one page: 1 to {@link MAX_QUERY_LIMIT}; default 100. */
  readonly limit?: number;
  /** The cursor: the `next` of the previous page of the same query. */
  readonly after?: string;
}

/** An entry outside of every chain, so without seq and hash. It may be removed, so no durable entry replies to it. */
export interface EphemeralEntry extends EntryDraft {
  readonly ephemeral: true;
}

/** A search result: a chained entry, or an ephemeral one if the query asks for them. */
export type FoundEntry = StoredEntry | { readonly entry: EphemeralEntry; readonly head: null; readonly body: string };

export interface QueryPage {
  readonly entries: readonly FoundEntry[];
  /** Cursor for the next page, to be passed as `after`; null on the last page. */
  readonly next: string | null;
  /** The number of entries that this page left out, because they cannot be read. */
  readonly unreadable: number;
}

export const MAX_QUERY_LIMIT = 1000;
const DEFAULT_LIMIT = 100;

/**
 * The position of an entry in the results. They are sorted by time, then ephemeral entries first, then by order of
 * arrival; the latest first.
 */
export interface QueryPosition {
  /** The entry's time in epoch milliseconds. */
  readonly at: number;
  readonly ephemeral: boolean;
  readonly nth: number;
}

export interface ValidatedQuery extends Omit<EvidenceQuery, 'since' | 'before' | 'limit' | 'after'> {
  /** Epoch milliseconds; null without this limit. */
  readonly since: number | null;
  readonly before: number | null;
  readonly limit: number;
  readonly after: QueryPosition | null;
}

/** Thrown for an invalid query; carries every problem with its path. */
export class QueryError extends Error {
  readonly problems: readonly { readonly path: string; readonly message: string }[];
  constructor(problems: QueryError['problems']) {
    super(problems.map(({ path, message }) => `${path === '' ? 'the query' : path}: ${message}`).join('; '));
    this.name = 'QueryError';
    this.problems = problems;
  }
}

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?Z$/;
export const isInstant = (text: string): boolean => {
  const time = INSTANT.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text.slice(0, 19));
};
const CURSOR = /^(\d{1,15})\.([01])\.(\d{1,15})$/;

/** Made at the first query, because most processes need no schema. */
const querySchema = memoise(() => {
  const { z } = createRequire(import.meta.url)('zod') as typeof import('zod');
  const Name = z.string().min(1);
  const Instant = z.string().refine(isInstant, 'must be ISO 8601 in UTC: 2026-01-31T09:00:00.000Z');
  return z.strictObject({
    subject: z.strictObject({ type: z.enum(SUBJECT_TYPES), id: Name }).optional(),
    type: z.enum(EVIDENCE_TYPES).optional(),
    claim: z.enum(CLAIM_TYPES).optional(),
    author: Name.optional(),
    sessionId: Name.optional(),
    peripheral: Name.nullable().optional(),
    patternId: Name.optional(),
    tags: z.array(Name).optional(),
    since: Instant.optional(),
    before: Instant.optional(),
    ephemeral: z.boolean().optional(),
    skipUnreadable: z.boolean().optional(),
    limit: z.int().min(1).max(MAX_QUERY_LIMIT).optional(),
    after: z.string().regex(CURSOR, 'is not a cursor; give the "next" of an earlier page').optional(),
  });
});

const millis = (text: string | undefined): number | null => (text === undefined ? null : Date.parse(text));

/** Validates an untrusted query. An unknown field is a problem. @throws QueryError with every problem */
export function validateQuery(query: unknown): ValidatedQuery {
  const parsed = querySchema().safeParse(query);
  if (!parsed.success)
    throw new QueryError(parsed.error.issues.map(({ path, message }) => ({ path: path.join('.'), message })));
  const { since, before, limit = DEFAULT_LIMIT, after, ...filters } = parsed.data;
  const present = Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined));
  return {
    ...(present as Omit<EvidenceQuery, 'since' | 'before' | 'limit' | 'after'>),
    since: millis(since),
    before: millis(before),
    limit,
    after: after === undefined ? null : readCursor(after),
  };
}

function readCursor(cursor: string): QueryPosition {
  const [, at, ephemeral, nth] = CURSOR.exec(cursor)!;
  return { at: Number(at), ephemeral: ephemeral === '1', nth: Number(nth) };
}

export const encodeCursor = ({ at, ephemeral, nth }: QueryPosition): string => `${at}.${ephemeral ? 1 : 0}.${nth}`;

/** Comparator of search results: negative if `a` comes first. */
export const compareByNewest = (a: QueryPosition, b: QueryPosition): number =>
  b.at - a.at || Number(b.ephemeral) - Number(a.ephemeral) || b.nth - a.nth;

/** True if an entry matches the query, regardless of the cursor. */
export function matchesQuery(query: ValidatedQuery, entry: EntryDraft): boolean {
  const { subject, type, claim, author, sessionId, peripheral, patternId, tags = [], since, before } = query;
  const at = Date.parse(entry.at);
  return (
    (subject === undefined || (entry.subject.type === subject.type && entry.subject.id === subject.id)) &&
    (type === undefined || entry.type === type) &&
    (claim === undefined || entry.claim === claim) &&
    (author === undefined || entry.author === author) &&
    (sessionId === undefined || entry.sessionId === sessionId) &&
    (peripheral === undefined || entry.peripheral === peripheral) &&
    (patternId === undefined || entry.patternId === patternId) &&
    tags.every((tag) => entry.tags.includes(tag)) &&
    (since === null || at >= since) &&
    (before === null || at < before)
  );
}

/** An entry that a query found, and its position in the results; null if it cannot be read. */
export interface PositionedEntry<Found extends FoundEntry | null = FoundEntry> {
  readonly position: QueryPosition;
  readonly found: Found;
}

/** Cuts sorted results to one page and adds the cursor of the next. */
export function cutToPage(query: ValidatedQuery, results: readonly PositionedEntry<FoundEntry | null>[]): QueryPage {
  const page = results.slice(0, query.limit);
  const last = page.at(-1);
  return {
    entries: page.flatMap(({ found }) => found ?? []),
    unreadable: page.filter(({ found }) => found === null).length,
    next: last === undefined || results.length <= query.limit ? null : encodeCursor(last.position),
  };
}
