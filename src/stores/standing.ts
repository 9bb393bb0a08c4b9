import type { ChainHead } from '../evidence/entry.ts';
import type { LeaseRow } from './append-rules.ts';
import type { Database, Statement } from './node-sqlite.ts';

/** A session's last entry. */
export interface Last extends ChainHead {
  /** Epoch milliseconds; -Infinity before the first. */
  readonly at: number;
}

const MAX_SESSIONS = 4096;
const MAX_IDS = 16384;

/**
 * Where the sessions stand that this process writes, remembered between transactions. Good within a transaction only, and only as long as no other
 * connection wrote: `refresh` at its beginning sees to that. What was undone is forgotten. An id once durable stays so, so ids outlast a refresh.
 */
export class Standing {
  readonly #version: Statement;
  #seen: unknown = null;
  readonly #leases = new Map<string, LeaseRow | null>();
  readonly #heads = new Map<string, Last>();
  readonly #ids = new Set<string>();

  constructor(db: Database) {
    this.#version = db.prepare('PRAGMA data_version');
  }

  refresh(): void {
    const version = this.#version.get()?.['data_version'];
    if (version !== this.#seen || this.#heads.size > MAX_SESSIONS) {
      this.#leases.clear();
      this.#heads.clear();
    }
    if (this.#ids.size > MAX_IDS) this.#ids.clear();
    this.#seen = version;
  }

  forget(): void {
    this.#leases.clear();
    this.#heads.clear();
    this.#ids.clear();
  }

  lease(sessionId: string, read: (sessionId: string) => LeaseRow | null): LeaseRow | null {
    let lease = this.#leases.get(sessionId);
    if (lease === undefined) {
      lease = read(sessionId);
      this.#leases.set(sessionId, lease);
    }
    return lease;
  }

  forgetLease(sessionId: string): void {
    this.#leases.delete(sessionId);
  }

  head(sessionId: string, read: (sessionId: string) => Last): Last {
    let head = this.#heads.get(sessionId);
    if (head === undefined) {
      head = read(sessionId);
      this.#heads.set(sessionId, head);
    }
    return head;
  }

  /** An entry was appended. */
  move(sessionId: string, id: string, last: Last): void {
    this.#heads.set(sessionId, last);
    this.#ids.add(id);
  }

  /** Whether an entry of this id is known to be there; false says nothing. */
  knows(id: string): boolean {
    return this.#ids.has(id);
  }
}
