import type { SpecTables } from '../compile/spec-tables.ts';
import type { Body } from '../evidence/bodies.ts';
import type { Entry, EntryDraft, StoredEntry } from '../evidence/entry.ts';
import type { Clock } from '../ports/clock.ts';
import { type EvidenceStore, type Lease, StoreError } from '../ports/evidence-store.ts';
import type { IdGenerator } from '../ports/ids.ts';
import type { OnDurableEntry } from './actors.ts';
import { applyEntry } from './state/apply-entry.ts';
import { draftEntry } from './state/drafts.ts';
import { foldEntries } from './state/fold-entries.ts';
import type { SessionState } from './state/session-state.ts';
import { toStoredFold } from './state/stored-state.ts';

/** The time in milliseconds after which a lease expires unless its writer renews it. */
export const SESSION_LEASE_MS = 30_000;
/** The number of entries after which the state is stored again, so that resuming a long session folds few entries. */
const STORE_STATE_EVERY = 1_000;

export interface SessionWriterParts {
  readonly store: EvidenceStore;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly compiled: SpecTables;
  /** The sha256 of the session's pin. */
  readonly pin: string;
  /** Called with each entry that changed the state of a machine. */
  readonly observer?: OnDurableEntry;
  /** Called with each entry after it is durable. */
  readonly onEntry?: (entry: Entry) => void;
}

/**
 * The one writer of a session: it holds the lease, seals the session's bodies into the chain, and folds every entry
 * that became durable. It catches up with what other writers appended before it took the lease.
 */
export class SessionWriter {
  readonly #parts: SessionWriterParts;
  readonly #holder: string;
  #state: SessionState;
  #lease: Lease | null = null;
  readonly #observers: OnDurableEntry[];
  /** The seq of the entry up to which the store has the session's state. */
  #storedUntil: number;
  /** The timer that renews the lease while work runs. */
  #renewal: NodeJS.Timeout | undefined;
  /** The number of unfinished calls of `keepLeaseDuring`. */
  #running = 0;

  constructor(parts: SessionWriterParts, state: SessionState) {
    this.#parts = parts;
    this.#holder = parts.ids.next('writer');
    this.#state = state;
    this.#observers = parts.observer ? [parts.observer] : [];
    this.#storedUntil = state.head.seq;
  }

  get state(): SessionState {
    return this.#state;
  }

  /** Calls `observer` with each later entry that changes the state of a machine. */
  watch(observer: OnDurableEntry): void {
    this.#observers.push(observer);
  }

  /** Applies entries that others stored after ours. Throws FoldError if they do not follow ours. */
  async catchUp(): Promise<void> {
    const { store, compiled } = this.#parts;
    for await (const step of foldEntries(store, compiled, this.#state)) this.#advance([step]);
  }

  /** Takes or renews the lease. Throws StoreError `session-busy`. */
  async takeLease(): Promise<void> {
    const { store, clock } = this.#parts;
    if (this.#lease && this.#lease.until > clock.now()) return;
    this.#lease = await store.acquire(this.#state.facts.sessionId, this.#holder, SESSION_LEASE_MS);
    await this.catchUp();
  }

  /** Throws StoreError `lease-expired` if another writer took the session over in the middle of a call. */
  readonly assertLease = async (): Promise<void> => void (await this.#validLease());

  /**
   * Returns a valid lease in the middle of a call. An expired lease is taken again. If another writer has appended in
   * the meantime, the call fails, because its decision was based on an outdated state.
   */
  async #validLease(): Promise<Lease> {
    const { store, clock } = this.#parts;
    const { facts, head } = this.#state;
    if (this.#lease && this.#lease.until > clock.now()) return this.#lease;
    this.#lease = null;
    const lost = (cause?: unknown) =>
      new StoreError('lease-expired', `another writer took session ${facts.sessionId} over in the middle of a call`, {
        cause,
      });
    const lease = await store.acquire(facts.sessionId, this.#holder, SESSION_LEASE_MS).catch((error) => {
      throw error instanceof StoreError && error.code === 'session-busy' ? lost(error) : error;
    });
    if ((await store.head(facts.sessionId)).hash !== head.hash) {
      await store.release(lease);
      throw lost();
    }
    this.#lease = lease;
    return lease;
  }

  /** Appends bodies in one durable batch and folds them. Throws StoreError `lease-expired` after a takeover. */
  async append(bodies: readonly Body[]): Promise<readonly Entry[]> {
    const lease = await this.#validLease();
    const { store, clock, ids, compiled } = this.#parts;
    const now = clock.now();
    const drafts: EntryDraft[] = [];
    const states: SessionState[] = [];
    let ahead = this.#state;
    for (const body of bodies) {
      const draft = draftEntry(compiled.specs, ahead, body, { id: ids.next('entry'), now });
      drafts.push(draft);
      // Folds before it writes: an entry that the machines reject must never be in the chain.
      ahead = applyEntry(compiled, ahead, unsealedEntry(draft, ahead));
      states.push(ahead);
    }
    try {
      const stored = await store.append(lease, this.#state.head, drafts);
      this.#lease = { ...lease, until: clock.now() + SESSION_LEASE_MS };
      this.#advance(
        stored.map(({ entry }, index) => ({
          state: { ...(states[index] ?? ahead), head: { seq: entry.seq, hash: entry.hash } },
          entry,
        })),
      );
      await this.#storeState(lease);
      return stored.map(({ entry }) => entry);
    } catch (error) {
      if (error instanceof StoreError && (error.code === 'lease-expired' || error.code === 'chain-conflict'))
        this.#lease = null;
      throw error;
    }
  }

  async #storeState(lease: Lease): Promise<void> {
    const { seq } = this.#state.head;
    if (seq - this.#storedUntil < STORE_STATE_EVERY) return;
    this.#storedUntil = seq;
    const { store, pin } = this.#parts;
    // The entries are durable. Without the stored state, only the next reader is slower.
    await store.keepFold?.(lease, toStoredFold({ pin, state: this.#state })).catch(() => {});
  }

  /** Awaits `work`, which may outlast the lease, and renews the lease meanwhile. */
  async keepLeaseDuring<T>(work: () => Promise<T>): Promise<T> {
    // One timer serves all running calls, and stops itself after the last one.
    this.#renewal ??= setInterval(() => this.#renew(), SESSION_LEASE_MS / 3).unref();
    this.#running += 1;
    try {
      return await work();
    } finally {
      this.#running -= 1;
    }
  }

  #renew(): void {
    if (this.#running === 0) {
      clearInterval(this.#renewal);
      this.#renewal = undefined;
      return;
    }
    this.#parts.store.acquire(this.#state.facts.sessionId, this.#holder, SESSION_LEASE_MS).then(
      (lease) => {
        this.#lease = lease;
      },
      () => {},
    );
  }

  /** Releases the lease and stores the state for the next writer. */
  async release(): Promise<void> {
    const lease = this.#lease;
    if (!lease) return;
    this.#lease = null;
    const { store, pin } = this.#parts;
    const { seq } = this.#state.head;
    await (seq > this.#storedUntil
      ? store.release(lease, toStoredFold({ pin, state: this.#state }))
      : store.release(lease));
    this.#storedUntil = seq;
  }

  /** Takes over the states after durable entries. Observers are called last, because an observer may throw. */
  #advance(steps: readonly { readonly state: SessionState; readonly entry: Entry }[]): void {
    let before = this.#state;
    this.#state = steps.at(-1)?.state ?? before;
    for (const { state, entry } of steps) {
      for (const observer of this.#observers) observer(before, entry);
      this.#parts.onEntry?.(entry);
      before = state;
    }
  }
}

/** Makes an entry without hashes from a draft, so that it can be folded before the store seals it. */
function unsealedEntry(draft: EntryDraft, { head }: SessionState): StoredEntry {
  const entry: Entry = { ...draft, seq: head.seq + 1, bodyHash: '', prev: head.hash, hash: '' };
  return { entry, head: '', body: null };
}
