import { StoreError } from '../ports/evidence-store.ts';
import { storeError } from './append-rules.ts';
import { type Database, isBroken, isBusy } from './node-sqlite.ts';

interface Job {
  readonly work: () => unknown;
  readonly refused: (error: StoreError) => void;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** What one job came to, told to its caller once the transaction is durable. */
type Settle = () => void;

const MAX_BATCH = 1024;

/**
 * One writer for all who wait: the jobs that gather while one transaction is written share the next. A job's promise settles after COMMIT;
 * a job that throws is undone alone. If the disk fails, nobody knows what it holds: every waiting job fails, and so does every later one,
 * until the store is opened anew (an fsync that failed once must not be tried again).
 */
export class GroupCommit {
  readonly #name: string;
  readonly #db: Database;
  readonly #onCommit: (jobs: number) => void;
  readonly #sql: Record<'begin' | 'commit' | 'save' | 'undo' | 'release', { run(): unknown }>;
  #queue: Job[] = [];
  #scheduled = false;
  #idle: (() => void)[] = [];
  #failure: StoreError | null = null;

  constructor(name: string, db: Database, onCommit: (jobs: number) => void) {
    this.#name = name;
    this.#db = db;
    this.#onCommit = onCommit;
    this.#sql = {
      begin: db.prepare('BEGIN IMMEDIATE'),
      commit: db.prepare('COMMIT'),
      save: db.prepare('SAVEPOINT job'),
      undo: db.prepare('ROLLBACK TO job'),
      release: db.prepare('RELEASE job'),
    };
  }

  /**
   * Runs `work` in the next transaction. If it throws a StoreError, its writes are undone and `refused` may write instead, in the same
   * transaction; the promise rejects with the error.
   */
  run<T>(work: () => T, refused: (error: StoreError) => void = () => {}): Promise<T> {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ work, refused, resolve: resolve as Job['resolve'], reject });
      this.#schedule();
    });
  }

  /** Settles when nothing waits any more. */
  drained(): Promise<void> {
    return this.#scheduled ? new Promise((resolve) => this.#idle.push(resolve)) : Promise.resolve();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#commitNext();
      if (this.#queue.length > 0) return this.#schedule();
      for (const resolve of this.#idle.splice(0)) resolve();
    });
  }

  #commitNext(): void {
    const jobs = this.#queue.splice(0, MAX_BATCH);
    let settled: readonly Settle[];
    try {
      this.#sql.begin.run();
      settled = jobs.map((job) => this.#runOne(job));
      this.#sql.commit.run();
    } catch (error) {
      this.#rollBack();
      const failure = this.#explain(error);
      for (const { reject } of jobs) reject(failure);
      return;
    }
    for (const settle of settled) settle();
    this.#onCommit(jobs.length);
  }

  /** Throws only if the disk or the file is at fault. */
  #runOne({ work, refused, resolve, reject }: Job): Settle {
    this.#sql.save.run();
    try {
      const value = work();
      this.#sql.release.run();
      return () => resolve(value);
    } catch (error) {
      if (isBroken(error)) throw error;
      this.#sql.undo.run();
      this.#sql.release.run();
      if (error instanceof StoreError) refused(error);
      return () => reject(error);
    }
  }

  #rollBack(): void {
    try {
      this.#db.exec('ROLLBACK');
    } catch {
      // SQLite may have rolled back by itself. The failure that brought us here is the one to tell.
    }
  }

  #explain(error: unknown): StoreError {
    const { message } = error as Error;
    if (isBusy(error)) {
      const text = `another process kept the store locked (${message}); nothing was written, try again`;
      return storeError(this.#name, 'store-failed', text, error);
    }
    const text = `cannot write: ${message}. Nothing of this batch was acknowledged and no more is accepted: free space or repair the disk, then open the store again`;
    this.#failure = storeError(this.#name, 'store-failed', text, error);
    for (const { reject } of this.#queue.splice(0)) reject(this.#failure);
    return this.#failure;
  }
}
