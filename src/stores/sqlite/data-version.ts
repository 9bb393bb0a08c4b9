import type { Database, Statement } from './node-sqlite.ts';

/** The time in milliseconds for which a reading is reused: another program needs longer to start and write. */
const SHARED_MS = 1;

/** The `PRAGMA data_version` of a store's file. It changes when another connection has written. */
export class SqliteDataVersion {
  readonly #statement: Statement;
  #last: unknown = null;
  /** The time of the last reading; null after the present turn of the event loop. */
  #readAt: number | null = null;

  constructor(db: Database) {
    this.#statement = db.prepare('PRAGMA data_version');
  }

  /** Reads the version. In a write transaction it stays right, because no other connection can write. */
  read(): unknown {
    this.#last = this.#statement.get()?.['data_version'];
    return this.#last;
  }

  /** Returns the version. In one turn of the event loop, a reading of the last millisecond is reused. */
  recent(): unknown {
    // Loading `performance.now` would slow a process that answers one hook.
    const now = Date.now();
    if (this.#readAt !== null && now - this.#readAt < SHARED_MS) return this.#last;
    this.#share(now);
    return this.read();
  }

  /** Records a commit of this connection: no other connection has written since its transaction read the version. */
  committed(): void {
    this.#share(Date.now());
  }

  #share(now: number): void {
    // A tick that is queued in a microtask runs after all other microtasks, at the end of this turn of the event loop.
    if (this.#readAt === null)
      void Promise.resolve().then(() =>
        process.nextTick(() => {
          this.#readAt = null;
        }),
      );
    this.#readAt = now;
  }
}
