import { getOrInsert } from '../base/get-or-insert.ts';
import type { ChainHead } from '../evidence/entry.ts';
import type { DataVersion } from './data-version.ts';
import type { LeaseRow } from './rules/append-rules.ts';

/** A session's last entry. */
export interface Last extends ChainHead {
  /** Epoch milliseconds; -Infinity before the first. */
  readonly at: number;
}

const MAX_SESSIONS = 4096;
const MAX_IDS = 16384;

/**
 * Cache of leases, heads and ids of the sessions that this process writes. Valid only inside a transaction: `refresh`
 * clears it if another connection wrote, and a rollback clears it. Ids survive a refresh, because entries are never
 * removed.
 */
export class WriteCache {
  readonly #version: DataVersion;
  #seen: unknown = null;
  readonly #leases = new Map<string, LeaseRow | null>();
  readonly #heads = new Map<string, Last>();
  readonly #ids = new Set<string>();

  constructor(version: DataVersion) {
    this.#version = version;
  }

  refresh(): void {
    const version = this.#version.read();
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
    return getOrInsert(this.#leases, sessionId, () => read(sessionId));
  }

  forgetLease(sessionId: string): void {
    this.#leases.delete(sessionId);
  }

  head(sessionId: string, read: (sessionId: string) => Last): Last {
    return getOrInsert(this.#heads, sessionId, () => read(sessionId));
  }

  /** Records that an entry was appended. */
  move(sessionId: string, id: string, last: Last): void {
    this.#heads.set(sessionId, last);
    this.#ids.add(id);
  }

  /** True if an entry with this id is known to exist; false means unknown. */
  knows(id: string): boolean {
    return this.#ids.has(id);
  }
}
