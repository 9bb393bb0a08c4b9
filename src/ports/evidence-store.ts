import type { ChainHead, EntryDraft, StoredEntry } from '../evidence/entry.ts';
import type { EphemeralEntry, EvidenceQuery, FoundEntry, QueryPage } from '../evidence/query.ts';

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

/** A store could not do what it was asked. `code` is stable; `[stores/<name>]` stands in front of the message. */
export class StoreError extends Error {
  readonly code: StoreErrorCode;
  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StoreError';
    this.code = code;
  }
}

/**
 * An entry in short: what a writer leaves out is filled in. `id` is made, `at` is now, the subject is the session, the entry stands outside of
 * any peripheral and mode and has no tags.
 */
export type ShortEntry = Pick<EntryDraft, 'type' | 'claim' | 'author' | 'body'> & Partial<EntryDraft>;

/** Whose bodies to erase. */
export type Erasure = { readonly sessionId: string } | { readonly ids: readonly string[] };

/** What refers to a blob: entries by id, in their bodies, and sessions by the pin that they keep. */
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

/** What a session's evidence came to, for whoever opens it again: no evidence, and nothing that anybody believes unless its head is the chain's. */
export interface KeptFold {
  /** The last entry that is folded into it. */
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
}

/** What happened at the store and belongs in no session's chain (a second writer turned away, an expired lease). */
export interface OperatorNote {
  readonly at: string;
  readonly code: string;
  readonly sessionId: string | null;
  readonly message: string;
}

/**
 * Keeps evidence. `stores/memory.ts` is the reference; `test/contracts/evidence-store.ts` is the law for every implementation.
 *
 * A promise returned by `append` settles only after the entries are durable (as durable as the store is). A batch is one append: all or nothing.
 */
export interface EvidenceStore {
  readonly name: string;

  /**
   * Takes the lease of a session for `holder`; renews it if the holder has it. An expired lease of another holder is taken over and noted in the
   * operator log. Throws `session-busy` (and notes it) while another holder's lease stands.
   * @param ttl milliseconds
   */
  acquire(sessionId: string, holder: string, ttl: number): Promise<Lease>;
  /**
   * Gives the lease back; a lease that is not held any more is ignored.
   * @param fold kept in place of the one before, as long as nothing of the session is erased
   */
  release(lease: Lease, fold?: KeptFold): Promise<void>;
  /** The fold that was kept last; null if there is none, or what was kept is damaged. A store that keeps none is as right, and slower. */
  keptFold?(sessionId: string): Promise<KeptFold | null>;

  /**
   * Appends drafts in order to the session's chain, after `after` (the head the writer believes in), and renews the lease.
   * Errors: `lease-expired`, `chain-conflict`, `duplicate-id`, `reply-not-found`, `fork-not-found`, `invalid-entry`.
   */
  append(lease: Lease, after: ChainHead, drafts: readonly (EntryDraft | ShortEntry)[]): Promise<readonly StoredEntry[]>;

  /**
   * Keeps entries outside of every chain (presence, heartbeats): no lease, no seq, no hash. They may reply to durable and to ephemeral entries.
   * Errors: `duplicate-id`, `reply-not-found`, `fork-not-found`, `invalid-entry`.
   */
  appendEphemeral(sessionId: string, drafts: readonly (EntryDraft | ShortEntry)[]): Promise<readonly EphemeralEntry[]>;
  /**
   * Removes the ephemeral entries that are older than a time (ISO 8601, UTC), but for those that a remaining entry replies to or forks.
   * Errors: `invalid-query`.
   */
  compactEphemeral(options: { readonly olderThan: string }): Promise<{ readonly compacted: number }>;

  /** The head of a session's chain; {@link EMPTY_CHAIN} if it has no entries. */
  head(sessionId: string): Promise<ChainHead>;
  /** A session's entries in order of `seq`, streamed; `from` is the first seq wanted (default 0). */
  entries(sessionId: string, options?: { readonly from?: number }): AsyncIterable<StoredEntry>;
  /** A durable entry; null if there is none of this id. */
  get(id: string): Promise<StoredEntry | null>;
  /** One page of what is asked for, newest first. Errors: `invalid-query`, with the path of what is wrong. */
  query(query: EvidenceQuery): Promise<QueryPage>;
  /** The newest entries of all sessions. Errors: `invalid-query`. */
  recent(options?: { readonly limit?: number }): Promise<readonly FoundEntry[]>;
  /** An entry and all that it replies to, the oldest first. Errors: `entry-not-found`. */
  replyChain(id: string): Promise<readonly FoundEntry[]>;
  /** The durable entries that fork an entry, in the order in which they came. Errors: `entry-not-found`. */
  forks(id: string): Promise<readonly StoredEntry[]>;
  /** Newest first. */
  sessions(): Promise<readonly SessionSummary[]>;

  /** Content-addressed: returns sha256 (hex) of the bytes. Idempotent. */
  putBlob(bytes: Uint8Array): Promise<string>;
  getBlob(hash: string): Promise<Uint8Array | null>;
  /** Who refers to a blob: `{ blob, bytes }` in the bodies of entries, and the pins of sessions. */
  blobReferences(hash: string): Promise<BlobReferences>;
  /**
   * Removes the blobs that nothing refers to and that were last put before a time (ISO 8601, UTC): one that was put just now may be referred to
   * by the next append. Errors: `invalid-query`.
   */
  collectBlobs(options: { readonly olderThan: string }): Promise<{ readonly collected: number }>;

  /**
   * Erases bodies for good: of a session, or of single entries. Heads and hashes stay, so the chain still verifies, and the session's list entry
   * keeps its agent and pin. The blobs that only these bodies referred to can then be collected. An erased session cannot be resumed.
   * Errors: `session-not-found`, `entry-not-found`, `session-busy` while somebody writes.
   */
  erase(what: Erasure): Promise<{ readonly erased: number }>;

  note(note: OperatorNote): Promise<void>;
  /** Newest first. */
  notes(options?: { readonly limit?: number }): Promise<readonly OperatorNote[]>;

  /** Waits for pending appends, then closes. Idempotent. */
  close(): Promise<void>;
}
