import type { ChainHead, EntryDraft, StoredEntry } from '../evidence/entry.ts';
import type { EphemeralEntry, EvidenceQuery, FoundEntry, QueryPage } from '../evidence/evidence-query.ts';
import type { MessageStore } from './message-store.ts';

export type StoreErrorCode =
  | 'duplicate-id'
  | 'reply-not-found'
  | 'fork-not-found'
  | 'invalid-entry'
  | 'invalid-query'
  | 'entry-not-found'
  | 'session-exists'
  | 'session-not-found'
  | 'session-busy'
  | 'lease-expired'
  | 'chain-conflict'
  | 'blob-not-found'
  | 'store-failed';

/** Failure of a store. `code` is stable; the message begins with `[stores/<name>]`. */
export class StoreError extends Error {
  readonly code: StoreErrorCode;
  /** The lease of the other writer, if a store refuses with `session-busy` and knows that lease; else null. */
  readonly heldBy: Pick<Lease, 'holder' | 'until'> | null;
  constructor(
    code: StoreErrorCode,
    message: string,
    options: ErrorOptions & { readonly heldBy?: Pick<Lease, 'holder' | 'until'> } = {},
  ) {
    super(message, options);
    this.name = 'StoreError';
    this.code = code;
    this.heldBy = options.heldBy ?? null;
  }
}

/** An entry with defaults: a new `id`, the current time, the session as subject, no peripheral, mode or tags. */
export type ShortEntryDraft = Pick<EntryDraft, 'type' | 'claim' | 'author' | 'body'> & Partial<EntryDraft>;

/** The bodies to erase: all bodies of a session, or the bodies of single entries. */
export type ErasureTarget = { readonly sessionId: string } | { readonly ids: readonly string[] };

/** References to a blob: entries (by id) whose bodies name it, and sessions whose pin it is. */
export interface BlobReferences {
  readonly entries: readonly string[];
  readonly sessions: readonly string[];
}

/** The right to write one session until `until` (epoch milliseconds); renewed by each append. */
export interface Lease {
  readonly sessionId: string;
  readonly holder: string;
  readonly until: number;
}

/** Cached fold of a session's evidence, for reopening. Not evidence; used only if its head matches the chain. */
export interface StoredFold {
  /** The last entry that is part of the fold. */
  readonly head: ChainHead;
  readonly text: string;
}

/** A session as a list shows it. */
export interface SessionSummary {
  readonly sessionId: string;
  readonly agent: string;
  readonly openedAt: string;
  readonly lastAt: string;
  readonly entries: number;
  readonly head: ChainHead;
  readonly closed: boolean;
  /** Sha256 of the pinned spec blob. */
  readonly pin: string;
  readonly lease: { readonly holder: string; readonly until: number } | null;
  /** True if the opening entry has no body any more; such a session cannot be resumed. */
  readonly erased: boolean;
  readonly name: string | null;
  readonly archived: boolean;
}

/** A person's label on a session (archived, …). Not evidence; an update keeps the fields that it leaves out. */
export interface SessionLabel {
  readonly name?: string | null;
  readonly archived?: boolean;
}

/** An event of the store that belongs to no session's chain, such as a refused second writer or an expired lease. */
export interface OperatorNote {
  readonly at: string;
  readonly code: string;
  readonly sessionId: string | null;
  readonly message: string;
}

/** A contradiction between a store's columns or caches and its entries. */
export interface StoreProblem {
  /** The session that the problem concerns; null if it concerns none or all. */
  readonly sessionId: string | null;
  /** The part of the store: `sessions.agent`, `entries.facets at 3`, `blobs.bytes of 1f…`, `file`. */
  readonly where: string;
  readonly message: string;
  /** True if a killed process can leave the same state, so that it proves no damage. */
  readonly isGap?: true;
}

/** Maximum length of the list of problems. */
export const MAX_STORE_PROBLEMS = 1000;

/**
 * Port of evidence stores. `stores/sqlite.ts` is the reference, and `docs/extend/evidence-store.md` says how to write
 * another one. Every implementation must pass `test/contracts/evidence-store.ts`.
 *
 * A promise returned by `append` settles only after the entries are durable (as durable as the store is). A batch is
 * one append: all or nothing.
 */
export interface EvidenceStore {
  readonly name: string;
  /** The inboxes of the sessions and of people. A store without them supports no messages. */
  readonly messages?: MessageStore;
  /** True after a failure of the disk: the store only reads until it is opened again. */
  readonly failed?: boolean;

  /**
   * Takes the lease of a session for `holder`, or renews it. Takes over an expired lease of another holder, ends the
   * waits that the other holder left, and notes the takeover in the operator log. Throws `session-busy` (and notes it)
   * while another holder's lease is valid. A lease from the future, which a clock that was ahead has left, is shortened
   * to its `ttl`.
   * @param ttl milliseconds
   */
  acquire(sessionId: string, holder: string, ttl: number): Promise<Lease>;
  /**
   * Releases the lease; ignores a lease that another holder has taken.
   * @param fold replaces the stored fold, unless part of the session was erased
   */
  release(lease: Lease, fold?: StoredFold): Promise<void>;
  /** Stores the fold as `release` does, and leaves the lease with its holder. A store may omit this method. */
  keepFold?(lease: Lease, fold: StoredFold): Promise<void>;
  /** Returns the stored fold; null if none or damaged. A store may omit this method; resuming is then slower. */
  keptFold?(sessionId: string): Promise<StoredFold | null>;

  /**
   * Appends drafts in order to the session's chain, after `after` (the head that the writer expects), and renews the
   * lease. Errors: `lease-expired`, `chain-conflict`, `duplicate-id`, `reply-not-found`, `fork-not-found`,
   * `invalid-entry`.
   */
  append(
    lease: Lease,
    after: ChainHead,
    drafts: readonly (EntryDraft | ShortEntryDraft)[],
  ): Promise<readonly StoredEntry[]>;

  /**
   * Stores entries outside every chain (presence, heartbeats): no lease, no seq, no hash. They may reply to durable and
   * ephemeral entries. Errors: `duplicate-id`, `reply-not-found`, `fork-not-found`, `invalid-entry`.
   */
  appendEphemeral(
    sessionId: string,
    drafts: readonly (EntryDraft | ShortEntryDraft)[],
  ): Promise<readonly EphemeralEntry[]>;

  /** Returns the head of a session's chain; {@link EMPTY_CHAIN} if it has no entries. */
  head(sessionId: string): Promise<ChainHead>;
  /** Streams a session's entries in order of `seq`; `from` is the first seq (default 0). */
  entries(sessionId: string, options?: { readonly from?: number }): AsyncIterable<StoredEntry>;
  /** Returns a durable entry; null if no entry has this id. */
  get(id: string): Promise<StoredEntry | null>;
  /** Returns one page of a query, newest first. Errors: `invalid-query`, with the path of each problem. */
  query(query: EvidenceQuery): Promise<QueryPage>;
  /** Returns an entry and all its ancestors, the oldest first. Errors: `entry-not-found`. */
  replyChain(id: string): Promise<readonly FoundEntry[]>;
  /** Newest first. */
  sessions(): Promise<readonly SessionSummary[]>;
  /** Names or archives a session in the list. Errors: `session-not-found`. */
  label(sessionId: string, label: SessionLabel): Promise<void>;

  /** Stores the bytes under their sha256, and returns it in hex. Idempotent. */
  putBlob(bytes: Uint8Array): Promise<string>;
  getBlob(hash: string): Promise<Uint8Array | null>;
  /** Finds the references to a blob: `{ blob, bytes }` in the bodies of entries, and the pins of sessions. */
  blobReferences(hash: string): Promise<BlobReferences>;
  /**
   * Removes unreferenced blobs that were stored before a time (ISO 8601, UTC). Newer blobs stay, because the next
   * append may refer to them.
   */
  collectBlobs(options: { readonly olderThan: string }): Promise<{ readonly collected: number }>;

  /**
   * Erases the bodies of a session or of single entries permanently. Heads and hashes stay, so the chain still
   * verifies, and the session's list item keeps its agent and pin. Blobs that only these bodies referred to can then be
   * collected. An erased session cannot be resumed. Errors: `session-not-found`, `entry-not-found`, `session-busy`
   * while a writer is active.
   */
  erase(what: ErasureTarget): Promise<{ readonly erased: number }>;

  note(note: OperatorNote): Promise<void>;
  /** Newest first. */
  notes(options?: { readonly limit?: number }): Promise<readonly OperatorNote[]>;

  /**
   * Compares lists, columns and caches with the entries that they repeat, and checks the file. Does not check the
   * chains; see `verifyChain`. At most {@link MAX_STORE_PROBLEMS}. A store without second copies may omit it.
   */
  problems?(): Promise<readonly StoreProblem[]>;

  /** Waits for pending appends, then closes. Idempotent. */
  close(): Promise<void>;
}
