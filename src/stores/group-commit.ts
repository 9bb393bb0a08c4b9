import { StoreError } from '../ports/evidence-store.ts';
import { storeError } from './append-rules.ts';
import { type Database, isBroken, isBusy } from './node-sqlite.ts';
import { statementsOf } from './statements.ts';

interface Job {
  /** Whether it must outlast a power cut. */
  readonly durable: boolean;
  readonly work: () => unknown;
  readonly refused: (error: StoreError) => void;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** What one job came to, told to its caller once the transaction is durable. */
type Settle = () => void;

const MAX_BATCH = 1024;

const sqlOf = (db: Database, busyMs: number) =>
  statementsOf(db, {
    begin: 'BEGIN IMMEDIATE',
    commit: 'COMMIT',
    all: 'SAVEPOINT batch',
    undoAll: 'ROLLBACK TO batch',
    releaseAll: 'RELEASE batch',
    save: 'SAVEPOINT job',
    undo: 'ROLLBACK TO job',
    release: 'RELEASE job',
    patient: `PRAGMA busy_timeout = ${Math.trunc(busyMs)}`,
    impatient: 'PRAGMA busy_timeout = 0',
  });

/**
 * One writer for all who wait: the jobs that gather while one transaction is written share the next. A job's promise settles after COMMIT;
 * a job that throws is undone alone. If the disk fails, nobody knows what it holds: every waiting job fails, and so does every later one,
 * until the store is opened anew (an fsync that failed once must not be tried again).
 */
export class GroupCommit {
  readonly #name: string;
  readonly #db: Database;
  readonly #onCommit: (jobs: number) => void;
  readonly #busyMs: number;
  readonly #begun: () => void;
  readonly #undone: () => void;
  readonly #sql: ReturnType<typeof sqlOf>;
  #queue: Job[] = [];
  #scheduled = false;
  /** What the connection is set to: whether a commit waits for the disk. */
  #waits = true;
  #idle: (() => void)[] = [];
  #failure: StoreError | null = null;
  /** Since when another process has kept the lock from us. */
  #lockedSince: number | null = null;

  constructor(
    name: string,
    db: Database,
    busyMs: number,
    onCommit: (jobs: number) => void,
    hooks: { readonly begun?: () => void; readonly undone?: () => void } = {},
  ) {
    this.#begun = hooks.begun ?? (() => {});
    this.#undone = hooks.undone ?? (() => {});
    this.#name = name;
    this.#db = db;
    this.#busyMs = busyMs;
    this.#onCommit = onCommit;
    this.#sql = sqlOf(db, busyMs);
  }

  /**
   * Runs `work` in the next transaction; it may be run twice, the first time undone. If it throws a StoreError, its writes are undone and `refused` may write instead, in the same
   * transaction; the promise rejects with the error.
   *
   * @param durable false: it need not outlast a power cut (every process sees it all the same), so its commit waits for the disk only if others of its batch do
   */
  run<T>(work: () => T, refused: (error: StoreError) => void = () => {}, durable = true): Promise<T> {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ durable, work, refused, resolve: resolve as Job['resolve'], reject });
      this.#schedule();
    });
  }

  /** Settles when nothing waits any more. */
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
    if (delay === 0) setImmediate(next);
    else setTimeout(next, delay);
  }

  #commitNext(): void {
    let jobs: Job[] = [];
    let settled: readonly Settle[];
    try {
      this.#wait(this.#queue.slice(0, MAX_BATCH).some(({ durable }) => durable));
      if (!this.#begin()) return;
      jobs = this.#queue.splice(0, MAX_BATCH);
      this.#begun();
      settled = this.#runTogether(jobs) ?? jobs.map((job) => this.#runOne(job));
      this.#sql.commit.run();
    } catch (error) {
      this.#rollBack();
      this.#fail(jobs, error);
      return;
    }
    for (const settle of settled) settle();
    this.#onCommit(jobs.length);
  }

  /** The next commit that waits writes what earlier ones did not wait for, too. Takes effect only outside of a transaction. */
  #wait(durably: boolean): void {
    if (durably === this.#waits) return;
    this.#db.exec(`PRAGMA synchronous = ${durably ? 'FULL' : 'NORMAL'}`);
    this.#waits = durably;
  }

  /**
   * False while another process has the lock: then we come back soon, and meanwhile this process does other things (SQLite itself would
   * sleep, and let the other win again and again). Throws once that took too long.
   */
  #begin(): boolean {
    this.#sql.impatient.run();
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
    } finally {
      this.#sql.patient.run();
    }
  }

  /**
   * All jobs under one savepoint, because most never fail. If one does, everything is undone and null is returned: then each is run again, alone.
   * Throws only if the disk or the file is at fault.
   */
  #runTogether(jobs: readonly Job[]): Settle[] | null {
    this.#sql.all.run();
    try {
      const settled = jobs.map(({ work, resolve }) => {
        const value = work();
        return () => resolve(value);
      });
      this.#sql.releaseAll.run();
      return settled;
    } catch (error) {
      if (isBroken(error)) throw error;
      this.#sql.undoAll.run();
      this.#sql.releaseAll.run();
      this.#undone();
      return null;
    }
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
      // SQLite may have rolled back by itself. The failure that brought us here is the one to tell.
    }
  }

  /** A lock that stays taken fails those who wait, nothing more. Any other failure ends the writer. */
  #fail(jobs: readonly Job[], error: unknown): void {
    const { message } = error as Error;
    const waiting = [...jobs, ...this.#queue.splice(0)];
    const busy = `another process kept the store locked (${message}); nothing was written, try again`;
    const broken = `cannot write: ${message}. Nothing of this batch was acknowledged and no more is accepted: free space or repair the disk, then open the store again`;
    const failure = storeError(this.#name, 'store-failed', isBusy(error) ? busy : broken, error);
    if (!isBusy(error)) this.#failure = failure;
    for (const { reject } of waiting) reject(failure);
  }
}
