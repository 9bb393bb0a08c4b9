import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { TableName, TextDatabase, TextRow, TextRows } from './asynchronous-store.ts';

type Row = { readonly [column: string]: string | number | null };
type Answer = { readonly rows: readonly Row[]; readonly error?: string };

const SERVER = `
const { parentPort, workerData } = require('node:worker_threads');
const { DatabaseSync } = require('node:sqlite');
const db = new DatabaseSync(workerData, { timeout: 5000 });
db.exec('PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY'); // tests need no durability
db.exec('CREATE TABLE IF NOT EXISTS texts (nth INTEGER PRIMARY KEY, name TEXT, key TEXT, session TEXT, value TEXT, UNIQUE (name, key))');
db.exec('CREATE INDEX IF NOT EXISTS texts_session ON texts (name, session, nth)');
parentPort.on('message', ({ nth, sql, values }) => {
  try {
    parentPort.postMessage({ nth, rows: db.prepare(sql).all(...values) });
  } catch (error) {
    parentPort.postMessage({ nth, error: error.message });
  }
});`;

/** A database behind a thread: like one on another machine, it answers each statement later. */
export class WorkerDatabase implements TextDatabase, TextRows {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #nth = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(file: string) {
    this.#worker = new Worker(SERVER, { eval: true, workerData: file });
    this.#worker.on('message', (answer) => {
      this.#waiting.get(answer.nth)?.(answer);
      this.#waiting.delete(answer.nth);
    });
  }

  async #run(sql: string, ...values: (string | number)[]): Promise<readonly Row[]> {
    const nth = this.#nth++;
    const answered = new Promise<Answer>((resolve) => this.#waiting.set(nth, resolve));
    this.#worker.postMessage({ nth, sql, values });
    const { rows, error } = await answered;
    if (error !== undefined) throw new Error(`${error}: ${sql}`);
    return rows;
  }

  async get(table: TableName, key: string): Promise<string | null> {
    const [row] = await this.#run('SELECT value FROM texts WHERE name = ? AND key = ?', table, key);
    return row === undefined ? null : String(row['value']);
  }

  async list(table: TableName, session?: string): Promise<readonly TextRow[]> {
    const rows = await (session === undefined
      ? this.#run('SELECT key, value FROM texts WHERE name = ? ORDER BY nth', table)
      : this.#run('SELECT key, value FROM texts WHERE name = ? AND session = ? ORDER BY nth', table, session));
    return rows.map(({ key, value }) => ({ key: String(key), value: String(value) }));
  }

  async put(table: TableName, key: string, value: string, session: string): Promise<void> {
    const add = 'INSERT INTO texts (name, key, session, value) VALUES (?, ?, ?, ?)';
    await this.#run(
      `${add} ON CONFLICT DO UPDATE SET session = excluded.session, value = excluded.value`,
      table,
      key,
      session,
      value,
    );
  }

  async delete(table: TableName, key: string): Promise<void> {
    await this.#run('DELETE FROM texts WHERE name = ? AND key = ?', table, key);
  }

  transaction<T>(work: (rows: TextRows) => Promise<T>): Promise<T> {
    const done = this.#last.then(async () => {
      await this.#run('BEGIN IMMEDIATE');
      try {
        const result = await work(this);
        await this.#run('COMMIT');
        return result;
      } catch (error) {
        await this.#run('ROLLBACK');
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
