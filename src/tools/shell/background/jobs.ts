import { setTimeout as sleep } from 'node:timers/promises';
import { BoundedOutput, type CutText } from '../../sandbox/bounded-output.ts';
import type { CommandResult } from '../../sandbox/sandbox.ts';

/** Runs the command of a job until it ends or the signal is aborted. */
export type RunJobCommand = (watch: {
  readonly signal: AbortSignal;
  readonly onOutput: (text: string) => void;
}) => Promise<CommandResult>;

/** Interval at which the output is passed to a follower. */
const FORWARD_MS = 200;

export class BackgroundJob {
  readonly id: string;
  readonly command: string;
  /** Settles when no process of the command is left; never rejects. */
  readonly ended: Promise<void>;
  /** The result of the command; null while it runs, and if the sandbox failed. */
  result: CommandResult | null = null;
  error: unknown = null;
  isRunning = true;
  readonly #stop = new AbortController();
  readonly #cap: number;
  #unread: BoundedOutput;
  #lastOutput: CutText = { text: '', truncated: false };
  #onText: () => void = () => {};
  #follow: ((text: string) => void) | null = null;
  #unfollowed = '';

  /**
   * @param cap maximum number of kept bytes that were not read yet
   * @param check throws if the output must not be shown; the command is stopped then
   */
  constructor(id: string, command: string, cap: number, check: () => void, run: RunJobCommand) {
    this.id = id;
    this.command = command;
    this.#cap = cap;
    this.#unread = new BoundedOutput(cap);
    const onOutput = (text: string) => {
      this.#unread.push(Buffer.from(text));
      this.#onText();
      if (this.#follow) this.#unfollowed += text;
    };
    const forward = () => {
      if (this.#unfollowed === '') return;
      try {
        check();
        this.#follow?.(this.#unfollowed);
      } catch {
        this.#follow = null;
        this.#stop.abort();
      }
      this.#unfollowed = '';
    };
    const timer = setInterval(forward, FORWARD_MS);
    timer.unref();
    this.ended = run({ signal: this.#stop.signal, onOutput })
      .then(
        (result) => {
          this.result = result;
        },
        (error: unknown) => {
          this.error = error ?? new Error('the command failed');
        },
      )
      .then(() => {
        this.isRunning = false;
        clearInterval(timer);
        forward();
      });
  }

  /** From now on, passes the command's output to this function. */
  follow(onText: (text: string) => void): void {
    this.#follow = onText;
  }

  get hasUnread(): boolean {
    return this.#unread.total > 0;
  }

  /** The output since the last call, cut in the middle at the cap; after the end, the last output again. */
  takeUnread(): CutText {
    const output = this.peekUnread();
    this.#unread = new BoundedOutput(this.#cap);
    return output;
  }

  /** Returns the unread output without marking it as read. */
  peekUnread(): CutText {
    if (this.hasUnread || this.isRunning) this.#lastOutput = this.#unread.kept();
    return this.#lastOutput;
  }

  get isFollowed(): boolean {
    return this.#follow !== null;
  }

  /** Settles when there is unread output, when the command ends, or after this time at the latest. */
  async outputOrEnd(ms: number, signal: AbortSignal): Promise<void> {
    if (ms <= 0 || !this.isRunning || this.hasUnread || signal.aborted) return;
    await this.#within(ms, signal, new Promise<void>((resolve) => (this.#onText = resolve)));
    this.#onText = () => {};
  }

  /** Settles when the command has ended, or after this time at the latest. */
  async endedWithin(ms: number, signal: AbortSignal): Promise<void> {
    if (ms > 0 && this.isRunning && !signal.aborted) await this.#within(ms, signal);
  }

  /** Kills the command with all of its processes. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.ended;
  }

  async #within(ms: number, signal: AbortSignal, ...others: readonly Promise<void>[]): Promise<void> {
    const over = new AbortController();
    const late = sleep(ms, undefined, { signal: AbortSignal.any([signal, over.signal]) }).catch(() => {});
    await Promise.race([this.ended, late, ...others]);
    over.abort();
  }
}

export const MAX_JOBS_PER_SESSION = 4;
/** Maximum number of ended commands per session whose output can still be read. */
const MAX_ENDED = 16;

/** The commands in the background of each session, oldest first. */
export class SessionJobs {
  readonly #ofSession = new Map<string, BackgroundJob[]>();
  #lastId = 0;

  of(sessionId: string): readonly BackgroundJob[] {
    return this.#ofSession.get(sessionId) ?? [];
  }

  start(sessionId: string, make: (id: string) => BackgroundJob): BackgroundJob {
    this.#lastId += 1;
    const job = make(`${this.#lastId}`);
    const ended = this.of(sessionId).filter(({ isRunning }) => !isRunning);
    const dropped = new Set(ended.slice(0, Math.max(0, ended.length - MAX_ENDED)));
    this.#ofSession.set(sessionId, [...this.of(sessionId).filter((each) => !dropped.has(each)), job]);
    return job;
  }

  /** Kills the commands of a session and forgets them. */
  async end(sessionId: string): Promise<void> {
    const jobs = this.of(sessionId);
    this.#ofSession.delete(sessionId);
    await Promise.all(jobs.map((job) => job.stop()));
  }

  async endAll(): Promise<void> {
    await Promise.all([...this.#ofSession.keys()].map((sessionId) => this.end(sessionId)));
  }
}
