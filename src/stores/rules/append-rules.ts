import { buildChainedEntries, ChainError, parseStoredEntry, type StoredBytes } from '../../evidence/chain.ts';
import type { ChainHead, EntryDraft, StoredEntry } from '../../evidence/entry.ts';
import { copyDraftBody, EntryError } from '../../evidence/entry-schema.ts';
import type { EphemeralEntry } from '../../evidence/evidence-query.ts';
import {
  type Lease,
  type OperatorNote,
  type ShortEntryDraft,
  StoreError,
  type StoreErrorCode,
} from '../../ports/evidence-store.ts';
import { completeShortEntry } from './short-entry.ts';

/**
 * The facts of a store that the rules for writing read; every method sees the writes of the present transaction. A
 * store that answers asynchronously reads them all before the rules judge.
 */
export interface StoreFacts {
  readonly name: string;
  /** True only if the lease's holder has certainly ended; always false for a store that other machines write. */
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
  /** The end of the lease in epoch milliseconds. */
  readonly until: number;
  readonly ttl: number;
}

/** A renewal lengthens the lease by this share of its ttl, so that the next appends need not renew it. */
const RENEWAL_SLACK = 1 / 8;
/** The longest `ttl` of a writer, in milliseconds. */
const MAX_TTL = 3_600_000;

const latestEnd = ({ ttl }: LeaseRow, now: number): number =>
  Math.ceil(now + Math.min(Math.max(ttl, 0), MAX_TTL) * (1 + RENEWAL_SLACK));

/** True if a lease lasts longer than a writer can ask for: it is forged, or the clock was ahead. */
export const isLeaseTooLong = (lease: LeaseRow, now: number): boolean =>
  lease.ttl > MAX_TTL || lease.until > latestEnd(lease, now) + 1;

/** Returns the lease with its end moved to at most one ttl from now. */
const shortenLease = (lease: LeaseRow, now: number): LeaseRow => ({
  ...lease,
  ttl: Math.min(lease.ttl, MAX_TTL),
  until: Math.min(lease.until, latestEnd(lease, now)),
});

export const storeError = (store: string, code: StoreErrorCode, message: string, cause?: unknown): StoreError =>
  new StoreError(code, `[stores/${store}] ${message}`, cause === undefined ? undefined : { cause });

const LAST_DATE_MS = 8.64e15;
/** A time as ISO 8601. A forged time that no date can have becomes the nearest valid time. */
export const isoTime = (ms: number): string =>
  new Date(Math.max(-LAST_DATE_MS, Math.min(ms, LAST_DATE_MS))).toISOString();

/**
 * Decides who may write a session: the holder of its lease, or anyone after the lease expired or the holder's process
 * ended. Returns the rows to write; `note` is null unless the lease was taken over.
 */
export function judgeLease(
  store: StoreFacts,
  now: number,
  sessionId: string,
  holder: string,
  ttl: number,
): { readonly lease: LeaseRow; readonly note: OperatorNote | null } {
  if (!(Number.isFinite(ttl) && ttl > 0))
    throw new RangeError(`ttl must be a positive number of milliseconds, got ${ttl}`);
  const held = store.leaseOf(sessionId);
  const lease = { holder, until: Math.ceil(now + ttl), ttl: Math.ceil(ttl) };
  if (held === null || held.holder === holder) return { lease, note: null };
  const gone = store.isGone(held.holder);
  if (held.until > now && !gone) {
    const { until } = shortenLease(held, now);
    const message = `session ${sessionId} is being written by ${held.holder} until ${isoTime(until)}; ${holder} was refused. Wait, or end the other writer`;
    const heldBy = { holder: held.holder, until };
    throw new StoreError('session-busy', `[stores/${store.name}] ${message}`, { heldBy });
  }
  const why =
    held.until > now
      ? `the process of ${held.holder} has ended`
      : `the lease of ${held.holder} ran out at ${isoTime(held.until)}`;
  const message = `${holder} took over session ${sessionId}: ${why}`;
  return { lease, note: { at: isoTime(now), code: 'lease-taken-over', sessionId, message } };
}

/** Runs `work`, and throws an error about an invalid draft as a StoreError. */
function asInvalidEntry<T>(store: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof EntryError) throw storeError(store, 'invalid-entry', error.message, error);
    throw error;
  }
}

function assertOneSession(store: string, sessionId: string, drafts: readonly EntryDraft[]): void {
  const foreign = drafts.find((draft) => draft.sessionId !== sessionId);
  if (foreign === undefined) return;
  const message = `entry ${foreign.id} belongs to session ${foreign.sessionId}, the lease is for ${sessionId}`;
  throw storeError(store, 'invalid-entry', message);
}

/** Seals drafts before the store is locked, so that invalid drafts never reach it. */
export function sealAppendDrafts(
  store: string,
  { sessionId }: Lease,
  after: ChainHead,
  drafts: readonly (EntryDraft | ShortEntryDraft)[],
  now: number,
): { readonly drafts: readonly EntryDraft[]; readonly sealed: readonly StoredEntry[] } {
  return asInvalidEntry(store, () => {
    const complete = drafts.map((draft) => completeShortEntry(draft, sessionId, now));
    const sealed = buildChainedEntries(after, complete);
    assertOneSession(store, sessionId, complete);
    return { drafts: complete, sealed };
  });
}

/** Completes, checks and copies drafts of ephemeral entries. */
export function sealEphemeralDrafts(
  store: string,
  sessionId: string,
  drafts: readonly (EntryDraft | ShortEntryDraft)[],
  now: number,
): readonly EphemeralEntry[] {
  return asInvalidEntry(store, () => {
    const complete = drafts.map((draft) => completeShortEntry(draft, sessionId, now));
    for (const draft of complete) copyDraftBody(draft);
    assertOneSession(store, sessionId, complete);
    return complete.map((draft) => ({ ...JSON.parse(JSON.stringify(draft)), ephemeral: true }) as EphemeralEntry);
  });
}

/** Returns the ephemeral entries to add. Checks that their ids are new and that the entries they name exist. */
export function judgeEphemeralAppend(store: StoreFacts, entries: readonly EphemeralEntry[]): readonly EphemeralEntry[] {
  const fresh = new Set<string>();
  const exists = (id: string): boolean => fresh.has(id) || store.has(id) || store.hasEphemeral(id);
  for (const entry of entries) {
    const { id } = entry;
    if (exists(id)) throw storeError(store.name, 'duplicate-id', `entry ${id} exists; give each entry its own id`);
    assertReferences(store.name, exists, entry);
    fresh.add(id);
  }
  return entries;
}

function assertReferences(
  store: string,
  exists: (id: string) => boolean,
  { id, inReplyTo, forkOf }: Pick<EntryDraft, 'id' | 'inReplyTo' | 'forkOf'>,
  why = 'which the store does not have',
): void {
  if (inReplyTo !== undefined && !exists(inReplyTo))
    throw storeError(store, 'reply-not-found', `entry ${id} replies to ${inReplyTo}, ${why}`);
  if (forkOf !== undefined && !exists(forkOf))
    throw storeError(store, 'fork-not-found', `entry ${id} forks ${forkOf}, ${why}`);
}

function renewLease(held: LeaseRow, now: number): LeaseRow | null {
  const promised = now + held.ttl;
  return held.until >= promised ? null : { ...held, until: Math.ceil(promised + held.ttl * RENEWAL_SLACK) };
}

/**
 * Checks one append. Returns the entries to add (`fresh`) and the appended entries (`stored`). They differ only if some
 * drafts were appended before: a writer that received no answer may try again. `lease` is null if the stored lease is
 * valid long enough.
 */
export function judgeAppend(
  store: StoreFacts,
  now: number,
  lease: Lease,
  after: ChainHead,
  drafts: readonly EntryDraft[],
  sealed: readonly StoredEntry[],
): {
  readonly fresh: readonly StoredEntry[];
  readonly stored: readonly StoredEntry[];
  readonly lease: LeaseRow | null;
} {
  const { sessionId, holder } = lease;
  const held = store.leaseOf(sessionId);
  if (held === null || held.holder !== holder || held.until <= now) {
    const why = held === null ? 'no lease' : `${held.holder} holds it until ${isoTime(held.until)}`;
    const message = `${holder} has lost its lease of session ${sessionId} (${why}); acquire it again and read the head before writing`;
    throw storeError(store.name, 'lease-expired', message);
  }
  const renewed = renewLease(held, now);

  const storedById = new Map<string, StoredEntry>();
  const isRepeat = (draft: EntryDraft): boolean => {
    const before = storedById.get(draft.id) ?? (store.has(draft.id) ? store.find(draft.id) : null);
    if (before !== null && sameContent(before, draft)) {
      storedById.set(draft.id, before);
      return true;
    }
    if (before === null && !store.hasEphemeral(draft.id)) return false;
    const message = `entry ${draft.id} exists with other content; give each entry its own id`;
    throw storeError(store.name, 'duplicate-id', message);
  };
  const exists = (id: string): boolean => storedById.has(id) || store.has(id);
  const fresh: EntryDraft[] = [];
  for (const [index, draft] of drafts.entries()) {
    if (isRepeat(draft)) continue;
    assertReferences(store.name, exists, draft, 'which the store does not have as a durable entry');
    storedById.set(draft.id, sealed[index]!);
    fresh.push(draft);
  }

  const head = store.headOf(sessionId);
  if (fresh.length > 0 && (head.seq !== after.seq || head.hash !== after.hash)) {
    const message = `session ${sessionId} is at seq ${head.seq} (${head.hash.slice(0, 12)}), not at ${after.seq} (${after.hash.slice(0, 12)}); read the new entries and decide again`;
    throw storeError(store.name, 'chain-conflict', message);
  }
  if (fresh.length === drafts.length) return { fresh: sealed, stored: sealed, lease: renewed };
  // Some drafts are stored already. The new drafts get other sequence numbers, and so other hashes.
  const added = buildChainedEntries(after, fresh);
  for (const link of added) storedById.set(link.entry.id, link);
  return { fresh: added, stored: drafts.map(({ id }) => storedById.get(id)!), lease: renewed };
}

/** True if a stored entry has a draft's content. Hashes are compared, so the stored body may be erased. */
function sameContent({ entry }: StoredEntry, draft: EntryDraft): boolean {
  const [again] = buildChainedEntries({ seq: entry.seq - 1, hash: entry.prev }, [draft]);
  return again!.entry.hash === entry.hash;
}

/** Parses the stored bytes of an entry; throws a StoreError if they are damaged. */
export function readStoredEntry(store: string, bytes: StoredBytes): StoredEntry {
  try {
    return parseStoredEntry(bytes);
  } catch (error) {
    if (!(error instanceof ChainError)) throw error;
    const message = `${error.message}. The store is damaged: copy its files, then run "hopgate verify".`;
    throw storeError(store, 'store-failed', message, error);
  }
}

/**
 * Returns the rows to write after a write was refused and rolled back; null if there are none. The note informs the
 * operator of the refusal, because no chain records it. `lease` replaces a lease that ends too late and would refuse
 * every other writer; else it is null.
 * @param held the lease of the session
 */
export function rowsAfterRefusal(
  { code, message }: StoreError,
  sessionId: string | null,
  held: LeaseRow | null,
  now: number,
): { readonly note: OperatorNote; readonly lease: LeaseRow | null } | null {
  if (code !== 'session-busy' && code !== 'lease-expired') return null;
  const isTooLong = code === 'session-busy' && held !== null && isLeaseTooLong(held, now);
  return { note: { at: isoTime(now), code, sessionId, message }, lease: isTooLong ? shortenLease(held, now) : null };
}
