import { zodLater } from '../spec/zod-later.ts';
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

/** What to look for; every field given must hold. Newest first. */
export interface EvidenceQuery {
  readonly subject?: Subject;
  readonly type?: EvidenceType;
  readonly claim?: ClaimType;
  readonly author?: string;
  readonly sessionId?: string;
  /** null: outside of any peripheral. */
  readonly peripheral?: string | null;
  readonly patternId?: string;
  /** All of them. */
  readonly tags?: readonly string[];
  /** Not older than this: ISO 8601, UTC. */
  readonly since?: string;
  /** Older than this: ISO 8601, UTC. */
  readonly before?: string;
  /** Ephemeral entries too; default false. */
  readonly ephemeral?: boolean;
  /** 1 to {@link MAX_LIMIT}; default 100. */
  readonly limit?: number;
  /** The `next` of an earlier page of the same query. */
  readonly after?: string;
}

/** An entry outside of every chain: it has no seq and no hash, nothing durable replies to it, and it may be compacted away. */
export interface EphemeralEntry extends EntryDraft {
  readonly ephemeral: true;
}

/** What a query finds: links of chains, and ephemeral entries where they were asked for. */
export type FoundEntry = StoredEntry | { readonly entry: EphemeralEntry; readonly head: null; readonly body: string };

export interface QueryPage {
  readonly entries: readonly FoundEntry[];
  /** Give it as `after` to read on; null: there is no more. */
  readonly next: string | null;
}

export const MAX_LIMIT = 1000;
const DEFAULT_LIMIT = 100;

/** Where a page ended. Entries are in order of time, then ephemeral ones first, then by when the store got them; the latest first. */
export interface Place {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly ephemeral: boolean;
  readonly nth: number;
}

/** A query that was checked. */
export interface ResolvedQuery extends Omit<EvidenceQuery, 'since' | 'before' | 'limit' | 'after'> {
  /** Epoch milliseconds. */
  readonly since: number | null;
  readonly before: number | null;
  readonly limit: number;
  readonly after: Place | null;
}

/** A query that means nothing; carries every issue with its path. */
export class QueryError extends Error {
  readonly issues: readonly { readonly path: string; readonly message: string }[];
  constructor(issues: QueryError['issues']) {
    super(issues.map(({ path, message }) => `${path === '' ? 'the query' : path}: ${message}`).join('; '));
    this.name = 'QueryError';
    this.issues = issues;
  }
}

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?Z$/;
const isInstant = (text: string): boolean => {
  const time = INSTANT.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text.slice(0, 19));
};
const CURSOR = /^(\d{1,15})\.([01])\.(\d{1,15})$/;

const querySchema = zodLater((z) => {
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
    limit: z.int().min(1).max(MAX_LIMIT).optional(),
    after: z.string().regex(CURSOR, 'is no cursor; give the "next" of an earlier page').optional(),
  });
});

const millis = (text: string | undefined): number | null => (text === undefined ? null : Date.parse(text));

/**
 * Checks a query, whoever wrote it.
 * @throws QueryError with every issue: an unknown field is one, too.
 */
export function resolveQuery(query: unknown): ResolvedQuery {
  const parsed = querySchema().safeParse(query);
  if (!parsed.success) {
    throw new QueryError(parsed.error.issues.map(({ path, message }) => ({ path: path.join('.'), message })));
  }
  const { since, before, limit = DEFAULT_LIMIT, after, ...filters } = parsed.data;
  const given = Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined));
  return {
    ...(given as Omit<EvidenceQuery, 'since' | 'before' | 'limit' | 'after'>),
    since: millis(since),
    before: millis(before),
    limit,
    after: after === undefined ? null : readPlace(after),
  };
}

function readPlace(cursor: string): Place {
  const [, at, ephemeral, nth] = CURSOR.exec(cursor)!;
  return { at: Number(at), ephemeral: ephemeral === '1', nth: Number(nth) };
}

/** A place as a cursor. */
export const cursorOf = ({ at, ephemeral, nth }: Place): string => `${at}.${ephemeral ? 1 : 0}.${nth}`;

/** Which of two comes first in an answer: negative if `a` does. */
export const byNewest = (a: Place, b: Place): number =>
  b.at - a.at || Number(b.ephemeral) - Number(a.ephemeral) || b.nth - a.nth;

/** Whether an entry is one that the query asks for, apart from where the page begins. */
export function matchesQuery(query: ResolvedQuery, entry: EntryDraft): boolean {
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

/** One page of what was found in places that are sorted already: cut to the limit, with the cursor that continues. */
export function pageOf(
  query: ResolvedQuery,
  found: readonly { readonly place: Place; readonly found: FoundEntry }[],
): QueryPage {
  const page = found.slice(0, query.limit);
  const last = page.at(-1);
  return {
    entries: page.map((one) => one.found),
    next: last === undefined || found.length <= query.limit ? null : cursorOf(last.place),
  };
}
