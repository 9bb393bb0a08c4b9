import { ChainError, parseStored, type StoredBytes, sealDrafts } from '../../evidence/chain.ts';
import type { ChainHead, EntryDraft, StoredEntry } from '../../evidence/entry.ts';
import { bodyOfDraft, EntryError } from '../../evidence/entry-schema.ts';
import type { EphemeralEntry } from '../../evidence/evidence-query.ts';
import {
  type Lease,
  type OperatorNote,
  type ShortEntry,
  StoreError,
  type StoreErrorCode,
} from '../../ports/evidence-store.ts';
import { completeDraft } from './short-entry.ts';

/**
 * The facts of a store that the rules read; every method sees the writes of the current transaction. A store that
 * answers asynchronously reads them before the rule judges: see `readView`.
 */
export interface StoreView {
  readonly name: string;
  /** True only if the holder has certainly ended. A store that other machines write cannot know: it returns false. */
  isGone(holder: string): boolean;
  leaseOf(sessionId: string): LeaseRow | null;
  headOf(sessionId: string): ChainHead;
  find(id: string): StoredEntry | null;
  has(id: string): boolean;
  hasEphemeral(id: string): boolean;
}

/** A stored lease; each append renews it by `ttl` milliseconds. */
export interface LeaseRow {
  readonly holder: string;
  readonly until: number;
  readonly ttl: number;
}

/** A renewal adds this share of the ttl to the promised time, so that the next appends need no write. */
const RENEWAL_SLACK = 1 / 8;
/** The maximum `ttl`, in milliseconds; a longer one is shortened. */
const MAX_TTL = 3_600_000;

const longest = ({ ttl }: LeaseRow, now: number): number =>
  Math.ceil(now + Math.min(Math.max(ttl, 0), MAX_TTL) * (1 + RENEWAL_SLACK));

/** True if a lease lasts longer than a writer can ask for: it is forged, or the clock was ahead. */
export const isFromTheFuture = (lease: LeaseRow, now: number): boolean =>
  lease.ttl > MAX_TTL || lease.until > longest(lease, now) + 1;

/** A lease whose end is at most one ttl away, for the writer that was refused because of it. */
export const shortened = (lease: LeaseRow, now: number): LeaseRow => ({
  ...lease,
  ttl: Math.min(lease.ttl, MAX_TTL),
  until: Math.min(lease.until, longest(lease, now)),
});

/** A granted lease: the row to write and the note for the operator. */
export interface Granted {
  readonly lease: LeaseRow;
  readonly note: string | null;
}

export const storeError = (store: string, code: StoreErrorCode, message: string, cause?: unknown): StoreError =>
  new StoreError(code, `[stores/${store}] ${message}`, cause === undefined ? undefined : { cause });

const time = (ms: number): string => new Date(ms).toISOString();

/** Decides who may write a session: its holder, or anyone after the lease has expired or the holder ended. */
export function judgeLease(store: StoreView, now: number, sessionId: string, holder: string, ttl: number): Granted {
  if (!(Number.isFinite(ttl) && ttl > 0))
    throw new RangeError(`ttl must be a positive number of milliseconds, got ${ttl}`);
  const held = store.leaseOf(sessionId);
  const lease = { holder, until: Math.ceil(now + ttl), ttl: Math.ceil(ttl) };
  if (held === null || held.holder === holder) return { lease, note: null };
  const gone = store.isGone(held.holder);
  if (held.until > now && !gone) {
    const message = `session ${sessionId} is being written by ${held.holder} until ${time(held.until)}; ${holder} was turned away. Wait, or end the other writer`;
    throw storeError(store.name, 'session-busy', message);
  }
  const why =
    held.until > now
      ? `the process of ${held.holder} has ended`
      : `the lease of ${held.holder} ran out at ${time(held.until)}`;
  const note = `${holder} took over session ${sessionId}: ${why}`;
  return { lease, note };
}

/** Turns an error about a draft into a StoreError; rethrows any other. */
function asInvalid<T>(store: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof EntryError) throw storeError(store, 'invalid-entry', error.message, error);
    throw error;
  }
}

function assertSession(store: string, sessionId: string, drafts: readonly EntryDraft[]): void {
  const stranger = drafts.find((draft) => draft.sessionId !== sessionId);
  if (stranger === undefined) return;
  const message = `entry ${stranger.id} belongs to session ${stranger.sessionId}, the lease is for ${sessionId}`;
  throw storeError(store, 'invalid-entry', message);
}

/** Seals drafts before any lock is taken, so that invalid drafts never reach the store. */
export function seal(
  store: string,
  { sessionId }: Lease,
  after: ChainHead,
  drafts: readonly (EntryDraft | ShortEntry)[],
  now: number,
): { readonly drafts: readonly EntryDraft[]; readonly sealed: readonly StoredEntry[] } {
  return asInvalid(store, () => {
    const complete = drafts.map((draft) => completeDraft(draft, sessionId, now));
    const sealed = sealDrafts(after, complete);
    assertSession(store, sessionId, complete);
    return { drafts: complete, sealed };
  });
}

/** Checks and copies ephemeral entries. */
export function sealEphemeral(
  store: string,
  sessionId: string,
  drafts: readonly (EntryDraft | ShortEntry)[],
  now: number,
): readonly EphemeralEntry[] {
  return asInvalid(store, () => {
    const complete = drafts.map((draft) => completeDraft(draft, sessionId, now));
    for (const draft of complete) bodyOfDraft(draft);
    assertSession(store, sessionId, complete);
    return complete.map((draft) => ({ ...JSON.parse(JSON.stringify(draft)), ephemeral: true }) as EphemeralEntry);
  });
}

/** Checks that the ids of ephemeral entries are new and that their references exist. Returns the entries to add. */
export function judgeEphemeral(store: StoreView, entries: readonly EphemeralEntry[]): readonly EphemeralEntry[] {
  const fresh = new Set<string>();
  const exists = (id: string): boolean => fresh.has(id) || store.has(id) || store.hasEphemeral(id);
  for (const { id, inReplyTo, forkOf } of entries) {
    if (exists(id)) throw storeError(store.name, 'duplicate-id', `entry ${id} exists; give each entry its own id`);
    assertPoints(store.name, exists, { id, inReplyTo, forkOf });
    fresh.add(id);
  }
  return entries;
}

function assertPoints(
  store: string,
  exists: (id: string) => boolean,
  {
    id,
    inReplyTo,
    forkOf,
  }: { readonly id: string; readonly inReplyTo?: string | undefined; readonly forkOf?: string | undefined },
  why = 'which is not here',
): void {
  if (inReplyTo !== undefined && !exists(inReplyTo))
    throw storeError(store, 'reply-not-found', `entry ${id} replies to ${inReplyTo}, ${why}`);
  if (forkOf !== undefined && !exists(forkOf))
    throw storeError(store, 'fork-not-found', `entry ${id} forks ${forkOf}, ${why}`);
}

function renew(held: LeaseRow, now: number): LeaseRow | null {
  const promised = now + held.ttl;
  return held.until >= promised ? null : { ...held, until: Math.ceil(promised + held.ttl * RENEWAL_SLACK) };
}

/**
 * Checks one append against the store. Returns the entries to add (`fresh`) and the answer (`stored`). They differ only
 * if the same drafts were appended before: a writer that did not receive the answer may retry. `lease` is null if the
 * stored lease lasts long enough.
 *
 * @param assumeNew true if the caller adds the entries in the same transaction, and judges again without it if an id
 *   exists: this saves two searches for each entry
 */
export function judgeAppend(
  store: StoreView,
  now: number,
  lease: Lease,
  after: ChainHead,
  drafts: readonly EntryDraft[],
  sealed: readonly StoredEntry[],
  assumeNew = false,
): {
  readonly fresh: readonly StoredEntry[];
  readonly stored: readonly StoredEntry[];
  readonly lease: LeaseRow | null;
} {
  const { sessionId, holder } = lease;
  const held = store.leaseOf(sessionId);
  if (held === null || held.holder !== holder || held.until <= now) {
    const why = held === null ? 'no lease' : `${held.holder} holds it until ${time(held.until)}`;
    const message = `${holder} has lost its lease of session ${sessionId} (${why}); acquire it again and read the head before writing`;
    throw storeError(store.name, 'lease-expired', message);
  }
  const renewed = renew(held, now);

  const known = new Map<string, StoredEntry>();
  const isRepeat = (draft: EntryDraft): boolean => {
    const before = known.get(draft.id) ?? (store.has(draft.id) ? store.find(draft.id) : null);
    if (before !== null && sameContent(before, draft)) {
      known.set(draft.id, before);
      return true;
    }
    if (before === null && !store.hasEphemeral(draft.id)) return false;
    const message = `entry ${draft.id} exists with other content; give each entry its own id`;
    throw storeError(store.name, 'duplicate-id', message);
  };
  const exists = (id: string): boolean => known.has(id) || store.has(id);
  const fresh: EntryDraft[] = [];
  for (const [index, draft] of drafts.entries()) {
    if (!assumeNew && isRepeat(draft)) continue;
    assertPoints(store.name, exists, draft, 'which is not here as a durable entry');
    known.set(draft.id, sealed[index]!);
    fresh.push(draft);
  }

  const head = store.headOf(sessionId);
  if (fresh.length > 0 && (head.seq !== after.seq || head.hash !== after.hash)) {
    const message = `session ${sessionId} is at seq ${head.seq} (${head.hash.slice(0, 12)}), not at ${after.seq} (${after.hash.slice(0, 12)}); read the new entries and decide again`;
    throw storeError(store.name, 'chain-conflict', message);
  }
  // If some drafts are repeats, the others get lower seqs and must be sealed again.
  const added = fresh.length === drafts.length || fresh.length === 0 ? sealed : sealDrafts(after, fresh);
  if (fresh.length === drafts.length) return { fresh: added, stored: added, lease: renewed };
  if (fresh.length === 0) return { fresh: [], stored: drafts.map(({ id }) => known.get(id)!), lease: renewed };
  for (const link of added) known.set(link.entry.id, link);
  return { fresh: added, stored: drafts.map(({ id }) => known.get(id)!), lease: renewed };
}

/** A draft sealed at the same place has the same hash if its content is the same, even if the body was erased. */
function sameContent({ entry }: StoredEntry, draft: EntryDraft): boolean {
  const [again] = sealDrafts({ seq: entry.seq - 1, hash: entry.prev }, [draft]);
  return again!.entry.hash === entry.hash;
}

/** Parses stored bytes; throws a StoreError if they are damaged. */
export function readStored(store: string, bytes: StoredBytes): StoredEntry {
  try {
    return parseStored(bytes);
  } catch (error) {
    if (!(error instanceof ChainError)) throw error;
    const message = `${error.message}. The store is damaged: keep a copy of its files, then run the chain check`;
    throw storeError(store, 'store-failed', message, error);
  }
}

/** The operator's note of a refusal that no session's chain records. */
export function noteOf(error: StoreError, sessionId: string | null, now: number): OperatorNote | null {
  if (error.code !== 'session-busy' && error.code !== 'lease-expired') return null;
  return { at: time(now), code: error.code, sessionId, message: error.message };
}

/** The operator's note of a lease that changed hands. */
export const takeoverNote = (message: string, sessionId: string, now: number): OperatorNote => ({
  at: time(now),
  code: 'lease-taken-over',
  sessionId,
  message,
});
