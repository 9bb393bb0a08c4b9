import type { ChainHead } from '../../evidence/entry.ts';
import type { LeaseRow } from '../rules/append-rules.ts';
import type { Database, Statement } from './node-sqlite.ts';

export interface LastEntryOfSession extends ChainHead {
  /** The entry's time in epoch milliseconds; -Infinity if there is no entry. */
  readonly at: number;
}

const MAX_SESSIONS = 4096;
const MAX_IDS = 16384;

/**
 * A cache of the leases, last entries and entry ids of the sessions that this process writes. Valid only inside a
 * transaction: `refresh` clears it if another connection wrote, and a rollback clears it. Ids survive a refresh,
 * because entries are never removed.
 */
export class StoreWriteCache {
  /** Its value changes when another connection has written. */
  readonly #dataVersion: Statement;
  #seenVersion: unknown = null;
  readonly leases = new Map<string, LeaseRow | null>();
  readonly heads = new Map<string, LastEntryOfSession>();
  /** Some of the ids that entries have. */
  readonly ids = new Set<string>();

  constructor(db: Database) {
    this.#dataVersion = db.prepare('PRAGMA data_version');
  }

  refresh(): void {
    const version = this.#dataVersion.get()?.['data_version'];
    if (version !== this.#seenVersion || this.heads.size > MAX_SESSIONS) {
      this.leases.clear();
      this.heads.clear();
    }
    if (this.ids.size > MAX_IDS) this.ids.clear();
    this.#seenVersion = version;
  }

  clear(): void {
    this.leases.clear();
    this.heads.clear();
    this.ids.clear();
  }
}
