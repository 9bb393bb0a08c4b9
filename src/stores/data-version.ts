import type { Database, Statement } from './node-sqlite.ts';

/** How long work that continues together shares one reading: less than a program takes to run. */
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

  /** The version, read now or a moment ago by work that continued after the same event, such as a shared commit. */
  recent(): unknown {
    // A process that answers one hook would load `performance` for this alone.
    const now = Date.now();
    if (this.#readAt !== null && now - this.#readAt < SHARED_MS) return this.#last;
    this.#share(now);
    return this.read();
  }

  /** Call it right after a commit whose transaction read the version: until then no other connection has written. */
  committed(): void {
    this.#share(Date.now());
  }

  #share(now: number): void {
    // A tick that is queued by a microtask runs after all microtasks, so after all work that continues now.
    if (this.#readAt === null)
      void Promise.resolve().then(() =>
        process.nextTick(() => {
          this.#readAt = null;
        }),
      );
    this.#readAt = now;
  }
}
