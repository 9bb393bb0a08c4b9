import type { Database, Statement } from './node-sqlite.ts';

/** How long a reading is reused, in milliseconds: less than another program needs to start and write. */
const SHARED_MS = 1;

/** The file's `PRAGMA data_version`, which changes when another connection has written. */
export class DataVersion {
  readonly #statement: Statement;
  #last: unknown = null;
  /** The time of the last reading; null once the program has returned to the event loop. */
  #readAt: number | null = null;

  constructor(db: Database) {
    this.#statement = db.prepare('PRAGMA data_version');
  }

  /** Reads the version. Inside a write transaction it is certain, because no other connection can write. */
  read(): unknown {
    this.#last = this.#statement.get()?.['data_version'];
    return this.#last;
  }

  /** The version; a reading of the last millisecond is reused in the same turn of the event loop. */
  recent(): unknown {
    // `performance.now` would have to be loaded, which slows a process that answers one hook.
    const now = Date.now();
    if (this.#readAt !== null && now - this.#readAt < SHARED_MS) return this.#last;
    this.#share(now);
    return this.read();
  }

  /** Call it right after a commit: no other connection has written since its transaction read the version. */
  committed(): void {
    this.#share(Date.now());
  }

  #share(now: number): void {
    // A tick that a microtask queues runs after all other microtasks, so at the end of this turn of the event loop.
    if (this.#readAt === null)
      void Promise.resolve().then(() =>
        process.nextTick(() => {
          this.#readAt = null;
        }),
      );
    this.#readAt = now;
  }
}
