import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

export type Row = { readonly [column: string]: string | number | Uint8Array | null };
type Value = Row[string];

const SERVER = `
const { parentPort, workerData } = require('node:worker_threads');
const { DatabaseSync } = require('node:sqlite');
const db = new DatabaseSync(workerData);
db.exec('PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY'); // tests need no durability
parentPort.on('message', ({ nth, sql, values }) => {
  try {
    parentPort.postMessage({ nth, rows: db.prepare(sql).all(...values) });
  } catch (error) {
    parentPort.postMessage({ nth, error: error.message });
  }
});`;

/** A database behind a thread: like one on another machine, it answers each statement later. */
export class WorkerDatabase {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, (answer: { readonly rows: readonly Row[]; readonly error?: string }) => void>();
  #nth = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(file: string) {
    this.#worker = new Worker(SERVER, { eval: true, workerData: file });
    this.#worker.on('message', (answer) => {
      this.#waiting.get(answer.nth)?.(answer);
      this.#waiting.delete(answer.nth);
    });
  }

  async run(sql: string, ...values: Value[]): Promise<readonly Row[]> {
    const nth = this.#nth++;
    const answered = new Promise<{ readonly rows: readonly Row[]; readonly error?: string }>((resolve) =>
      this.#waiting.set(nth, resolve),
    );
    this.#worker.postMessage({ nth, sql, values });
    const { rows, error } = await answered;
    if (error !== undefined) throw new Error(`${error}: ${sql}`);
    return rows;
  }

  /** Runs one transaction at a time, in the order of the calls; rolls back if `work` throws. */
  transaction<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(async () => {
      await this.run('BEGIN IMMEDIATE');
      try {
        const result = await work();
        await this.run('COMMIT');
        return result;
      } catch (error) {
        await this.run('ROLLBACK');
        throw error;
      }
    });
    this.#last = done.catch(() => {});
    return done;
  }

  async close(): Promise<void> {
    await this.#last;
    this.#worker.postMessage({ nth: -1, sql: 'SELECT 1', values: [] });
    await once(this.#worker, 'message');
    await this.#worker.terminate();
  }
}
