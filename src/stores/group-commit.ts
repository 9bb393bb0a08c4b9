import { StoreError } from '../ports/evidence-store.ts';
import { type Database, isBroken, isBusy } from './node-sqlite.ts';
import { storeError } from './rules/append-rules.ts';
import { statementsOf } from './statements.ts';

interface Job {
  /** True if the write must survive a power cut. */
  readonly durable: boolean;
  readonly work: (isSecond: boolean) => unknown;
  readonly refused: (error: StoreError) => void;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Settles one job's promise once the transaction is durable. */
type Settle = () => void;

const MAX_BATCH = 1024;

const sqlOf = (db: Database) =>
  statementsOf(db, {
    begin: 'BEGIN IMMEDIATE',
    commit: 'COMMIT',
    save: 'SAVEPOINT job',
    undo: 'ROLLBACK TO job',
    release: 'RELEASE job',
  });

/**
 * Group commit: the jobs that arrive while a transaction is written share the next one. A job's promise settles after
 * COMMIT. A job that throws is rolled back alone. After a disk failure the content of the disk is unknown, so every
 * waiting and every later job fails until the store is opened again (a failed fsync must not be retried).
 */
export class GroupCommit {
  readonly #name: string;
  readonly #db: Database;
  readonly #onCommit: (jobs: number) => void;
  readonly #busyMs: number;
  readonly #begun: () => void;
  readonly #committed: () => void;
  readonly #undone: () => void;
  readonly #soon: (next: () => void) => void;
  readonly #sql: ReturnType<typeof sqlOf>;
  #queue: Job[] = [];
  /**
   * Number of jobs at the front of the queue that were rolled back together; next, each runs under its own savepoint.
   */
  #apart = 0;
  #scheduled = false;
  /** True if the connection is set to wait for the disk at each commit (synchronous FULL). */
  #waits = true;
  #idle: (() => void)[] = [];
  #failure: StoreError | null = null;
  /** Start of the wait for another process's lock; null if there is none. */
  #lockedSince: number | null = null;

  /**
   * @param db a connection that does not wait for another process's lock (busy timeout 0)
   * @param busyMs how long a job waits for that lock, in milliseconds
   * @param hooks `soon` starts the next transaction; default: once the jobs of this turn of the event loop have arrived
   */
  constructor(
    name: string,
    db: Database,
    busyMs: number,
    onCommit: (jobs: number) => void,
    hooks: {
      readonly begun?: () => void;
      readonly committed?: () => void;
      readonly undone?: () => void;
      readonly soon?: (next: () => void) => void;
    } = {},
  ) {
    this.#begun = hooks.begun ?? (() => {});
    this.#committed = hooks.committed ?? (() => {});
    this.#undone = hooks.undone ?? (() => {});
    this.#soon = hooks.soon ?? setImmediate;
    this.#name = name;
    this.#db = db;
    this.#busyMs = busyMs;
    this.#onCommit = onCommit;
    this.#sql = sqlOf(db);
  }

  /**
   * Runs `work` in the next transaction. If a job of the batch throws, all are rolled back and run a second time, each
   * under its own savepoint. If `work` throws a StoreError then, its writes are rolled back, `refused` may write in the
   * same transaction instead, and the promise rejects with the error.
   *
   * @param work `isSecond`: this is the second run, whose error is final
   * @param durable false if the write may be lost in a power cut (other processes see it at once); its commit then
   *   waits for the disk only if another job of the batch does
   */
  run<T>(work: (isSecond: boolean) => T, refused: (error: StoreError) => void = () => {}, durable = true): Promise<T> {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ durable, work, refused, resolve: resolve as Job['resolve'], reject });
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
    if (delay === 0) this.#soon(next);
    else setTimeout(next, delay);
  }

  #commitNext(): void {
    let jobs: Job[] = [];
    let settled: readonly Settle[];
    try {
      this.#wait(this.#queue.slice(0, MAX_BATCH).some(({ durable }) => durable));
      if (!this.#begin()) return;
      const apart = this.#apart > 0;
      jobs = this.#queue.splice(0, apart ? this.#apart : MAX_BATCH);
      this.#apart = 0;
      this.#begun();
      const run = apart ? jobs.map((job) => this.#runOne(job)) : this.#runTogether(jobs);
      if (run === null) {
        this.#queue.unshift(...jobs);
        this.#apart = jobs.length;
        return;
      }
      settled = run;
      this.#sql.commit.run();
    } catch (error) {
      this.#rollBack();
      this.#fail(jobs, error);
      return;
    }
    this.#committed();
    for (const settle of settled) settle();
    this.#onCommit(jobs.length);
  }

  /** Switches fsync at commit, which makes earlier commits durable, too. Only outside of a transaction. */
  #wait(durably: boolean): void {
    if (durably === this.#waits) return;
    this.#db.exec(`PRAGMA synchronous = ${durably ? 'FULL' : 'NORMAL'}`);
    this.#waits = durably;
  }

  /**
   * Returns false while another process holds the lock; the caller retries soon, and this process can do other work
   * meanwhile. (SQLite's own wait would block, and would let the other process win repeatedly.) Throws after the busy
   * timeout.
   */
  #begin(): boolean {
    try {
      this.#sql.begin.run();
      this.#lockedSince = null;
      return true;
    } catch (error) {
      if (!isBusy(error)) throw error;
      this.#lockedSince ??= performance.now();
      if (performance.now() - this.#lockedSince < this.#busyMs) return false;
      this.#lockedSince = null;
      throw error;
    }
  }

  /**
   * Runs all jobs in the transaction, without a savepoint: SQLite would copy each page that they change. Jobs rarely
   * fail. If one does, ends the transaction and returns null; in the next one, each job runs under its own savepoint.
   * Throws only on a fault of the disk or the file.
   */
  #runTogether(jobs: readonly Job[]): Settle[] | null {
    try {
      return jobs.map(({ work, resolve }) => {
        const value = work(false);
        return () => resolve(value);
      });
    } catch (error) {
      if (isBroken(error)) throw error;
      this.#rollBack();
      return null;
    }
  }

  /** Runs one job under its own savepoint. Throws only on a fault of the disk or the file. */
  #runOne({ work, refused, resolve, reject }: Job): Settle {
    this.#sql.save.run();
    try {
      const value = work(true);
      this.#sql.release.run();
      return () => resolve(value);
    } catch (error) {
      if (isBroken(error)) throw error;
      this.#sql.undo.run();
      this.#sql.release.run();
      this.#undone();
      if (error instanceof StoreError) refused(error);
      return () => reject(error);
    }
  }

  #rollBack(): void {
    this.#undone();
    try {
      this.#db.exec('ROLLBACK');
    } catch {
      // SQLite may have rolled back already. Report the original failure.
    }
  }

  /** A busy timeout fails only the waiting jobs. Any other failure ends the writer. */
  #fail(jobs: readonly Job[], error: unknown): void {
    const { message } = error as Error;
    const waiting = [...jobs, ...this.#queue.splice(0)];
    this.#apart = 0;
    const busy = `another process kept the store locked (${message}); nothing was written, try again`;
    const broken = `cannot write: ${message}. Nothing of this batch was acknowledged and no more is accepted: free space or repair the disk, then open the store again`;
    const failure = storeError(this.#name, 'store-failed', isBusy(error) ? busy : broken, error);
    if (!isBusy(error)) this.#failure = failure;
    for (const { reject } of waiting) reject(failure);
  }
}
