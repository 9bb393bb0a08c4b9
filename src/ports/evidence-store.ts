import type { ChainHead, EntryDraft, StoredEntry } from '../evidence/entry.ts';

export type StoreErrorCode =
  | 'duplicate-id'
  | 'reply-not-found'
  | 'fork-not-found'
  | 'invalid-entry'
  | 'invalid-query'
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

/** The right to write one session until `until` (epoch milliseconds); renewed by each append. */
export interface Lease {
  readonly sessionId: string;
  readonly holder: string;
  readonly until: number;
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
  /** Gives the lease back; a lease that is not held any more is ignored. */
  release(lease: Lease): Promise<void>;

  /**
   * Appends drafts in order to the session's chain, after `after` (the head the writer believes in), and renews the lease.
   * Errors: `lease-expired`, `chain-conflict`, `duplicate-id`, `reply-not-found`, `fork-not-found`, `invalid-entry`.
   */
  append(lease: Lease, after: ChainHead, drafts: readonly EntryDraft[]): Promise<readonly StoredEntry[]>;

  /** The head of a session's chain; {@link EMPTY_CHAIN} if it has no entries. */
  head(sessionId: string): Promise<ChainHead>;
  /** A session's entries in order of `seq`, streamed; `from` is the first seq wanted (default 0). */
  entries(sessionId: string, options?: { readonly from?: number }): AsyncIterable<StoredEntry>;
  get(id: string): Promise<StoredEntry | null>;
  /** Newest first. */
  sessions(): Promise<readonly SessionSummary[]>;

  /** Content-addressed: returns sha256 (hex) of the bytes. Idempotent. */
  putBlob(bytes: Uint8Array): Promise<string>;
  getBlob(hash: string): Promise<Uint8Array | null>;

  note(note: OperatorNote): Promise<void>;
  /** Newest first. */
  notes(options?: { readonly limit?: number }): Promise<readonly OperatorNote[]>;

  /** Waits for pending appends, then closes. Idempotent. */
  close(): Promise<void>;
}
