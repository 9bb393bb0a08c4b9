import { StoreError } from '../../ports/evidence-store.ts';
import { type Database, isDiskError, isLockError } from './node-sqlite.ts';
import { sqliteError } from './sqlite-error.ts';
import { type NamedStatements, prepareAtFirstUse } from './statements.ts';

interface Job {
  /** True if the job's write must survive a power cut. */
  readonly durable: boolean;
  readonly work: () => unknown;
  readonly onRefusal: (error: StoreError) => void;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface CommitHooks {
  /** The name of the database in errors. */
  readonly file?: string;
  readonly onBegin?: () => void;
  /** Called after a transaction, or one job, was rolled back. */
  readonly onRollback?: () => void;
  /** Called after each commit with the number of jobs in the transaction. */
  readonly onCommit?: (jobs: number) => void;
  /** Starts the next transaction; by default, after the jobs of this turn of the event loop have arrived. */
  readonly schedule?: (next: () => void) => void;
}

/** Settles the promise of one job, after its transaction is durable. */
type Settle = () => void;

const MAX_BATCH = 1024;

const SQL = {
  begin: 'BEGIN IMMEDIATE',
  commit: 'COMMIT',
  save: 'SAVEPOINT job',
  undo: 'ROLLBACK TO job',
  release: 'RELEASE job',
};

/**
 * Group commit: the jobs that arrive while a transaction is written share the next one. A job's promise settles after
 * COMMIT. A job that throws is rolled back alone. After a disk failure the content of the disk is unknown, so every
 * waiting and every later job fails until the store is opened again (a failed fsync must not be retried).
 */
export class GroupCommit {
  readonly #db: Database;
  readonly #busyMs: number;
  readonly #hooks: Required<CommitHooks>;
  readonly #sql: NamedStatements<keyof typeof SQL>;
  #queue: Job[] = [];
  #scheduled = false;
  /** True if the connection is set to wait for the disk at each commit (synchronous FULL). */
  #fsyncs = true;
  #idle: (() => void)[] = [];
  #failure: StoreError | null = null;
  /** The time when the wait for another process's lock began; null if there is no wait. */
  #lockedSince: number | null = null;

  /**
   * @param db a connection that does not wait for another process's lock (busy timeout 0)
   * @param busyMs how long a job waits for that lock, in milliseconds
   */
  constructor(db: Database, busyMs: number, hooks: CommitHooks = {}) {
    this.#db = db;
    this.#busyMs = busyMs;
    this.#hooks = {
      file: 'the store',
      onBegin: () => {},
      onRollback: () => {},
      onCommit: () => {},
      schedule: setImmediate,
      ...hooks,
    };
    this.#sql = prepareAtFirstUse(db, SQL);
  }

  /**
   * Runs `work` in the next transaction. If it throws, its writes are rolled back, and the promise rejects with the
   * error; after a StoreError, `onRefusal` may write in the same transaction instead.
   * @param durable false if the write may be lost in a power cut (other processes see it at once); its commit then
   *   waits for the disk only if another job of the batch does
   */
  run<T>(work: () => T, onRefusal: Job['onRefusal'] = () => {}, durable = true): Promise<T> {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ durable, work, onRefusal, resolve: resolve as Job['resolve'], reject });
      this.#schedule();
    });
  }

  /** True after a disk failure. */
  get failed(): boolean {
    return this.#failure !== null;
  }

  drained(): Promise<void> {
    return this.#scheduled ? new Promise((resolve) => this.#idle.push(resolve)) : Promise.resolve();
  }

  #schedule(delay = 0): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    const next = (): void => {
      this.#scheduled = false;
      this.#commitNext();
      if (this.#queue.length > 0) return this.#schedule(this.#lockedSince === null ? 0 : 1 + 3 * Math.random());
      for (const resolve of this.#idle.splice(0)) resolve();
    };
    if (delay === 0) this.#hooks.schedule(next);
    else setTimeout(next, delay);
  }

  #commitNext(): void {
    let jobs: Job[] = [];
    let settled: readonly Settle[];
    try {
      this.#setFsync(this.#queue.slice(0, MAX_BATCH).some(({ durable }) => durable));
      if (!this.#begin()) return;
      jobs = this.#queue.splice(0, MAX_BATCH);
      this.#hooks.onBegin();
      settled = jobs.map((job) => this.#runOne(job));
      this.#sql.commit.run();
    } catch (error) {
      this.#rollBack();
      this.#fail(jobs, error);
      return;
    }
    for (const settle of settled) settle();
    this.#hooks.onCommit(jobs.length);
  }

  /** Switches fsync at commit, outside of transactions. Switching it on makes earlier commits durable. */
  #setFsync(on: boolean): void {
    if (on === this.#fsyncs) return;
    this.#db.exec(`PRAGMA synchronous = ${on ? 'FULL' : 'NORMAL'}`);
    this.#fsyncs = on;
  }

  /**
   * Begins a transaction. Returns false while another process holds the lock; the caller soon tries again, and this
   * process can do other work meanwhile. (SQLite's own wait would block, and would let the other process win
   * repeatedly.) Throws after the busy timeout.
   */
  #begin(): boolean {
    try {
      this.#sql.begin.run();
      this.#lockedSince = null;
      return true;
    } catch (error) {
      if (!isLockError(error)) throw error;
      this.#lockedSince ??= performance.now();
      if (performance.now() - this.#lockedSince < this.#busyMs) return false;
      this.#lockedSince = null;
      throw error;
    }
  }

  /** Runs one job under its own savepoint. Throws only on a fault of the disk or the file. */
  #runOne({ work, onRefusal, resolve, reject }: Job): Settle {
    this.#sql.save.run();
    try {
      const value = work();
      this.#sql.release.run();
      return () => resolve(value);
    } catch (error) {
      if (isDiskError(error)) throw error;
      this.#sql.undo.run();
      this.#sql.release.run();
      this.#hooks.onRollback();
      if (error instanceof StoreError) onRefusal(error);
      return () => reject(error);
    }
  }

  #rollBack(): void {
    this.#hooks.onRollback();
    try {
      this.#db.exec('ROLLBACK');
    } catch {
      // SQLite may have rolled back already; the caller reports the original failure.
    }
  }

  /** Rejects jobs. After a busy timeout, later jobs still run; any other failure ends the writer. */
  #fail(jobs: readonly Job[], error: unknown): void {
    const { message } = error as Error;
    const { file } = this.#hooks;
    const waiting = [...jobs, ...this.#queue.splice(0)];
    const busy = `another process kept ${file} locked (${message}); nothing was written, try again`;
    const broken = `cannot write ${file}: ${message}. Nothing of this batch was acknowledged and no more is accepted: free space, make the file writable, or put it back, then open the store again`;
    const failure = sqliteError('store-failed', isLockError(error) ? busy : broken, error);
    if (!isLockError(error)) this.#failure = failure;
    for (const { reject } of waiting) reject(failure);
  }
}
