import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { BoundedOutput } from './bounded-output.ts';
import type { CommandOptions } from './sandbox.ts';

type KillReason = 'timed-out' | 'aborted' | 'flooded';

type RunBounds = Pick<CommandOptions, 'seconds' | 'outputBytes' | 'signal' | 'onOutput'>;

/** Controls one command: its output is bounded, and it is killed on timeout, abort or flood. */
export class BoundedRun {
  readonly stdout: BoundedOutput;
  readonly stderr: BoundedOutput;
  /** Settles when both output streams have ended. */
  readonly outputEnded: Promise<void>;
  /** The reason for the first kill; null if the command was not killed. */
  killed: KillReason | null = null;
  readonly #since = performance.now();
  readonly #bounds: RunBounds;
  readonly #end: () => void;
  readonly #timer: NodeJS.Timeout;
  readonly #onAbort = () => this.#kill('aborted');

  /** @param end kills the command */
  constructor(streams: { readonly stdout: Readable; readonly stderr: Readable }, bounds: RunBounds, end: () => void) {
    this.#bounds = bounds;
    this.#end = end;
    this.stdout = new BoundedOutput(bounds.outputBytes);
    this.stderr = new BoundedOutput(bounds.outputBytes);
    this.outputEnded = Promise.all([
      this.#collect(streams.stdout, this.stdout),
      this.#collect(streams.stderr, this.stderr),
    ]).then(() => {});
    this.#timer = setTimeout(() => this.#kill('timed-out'), bounds.seconds * 1000);
    bounds.signal.addEventListener('abort', this.#onAbort, { once: true });
    if (bounds.signal.aborted) this.#kill('aborted');
  }

  /** Stops the timer and ignores the caller's signal; after this call nothing kills the command. */
  settle(): void {
    clearTimeout(this.#timer);
    this.#bounds.signal.removeEventListener('abort', this.#onAbort);
  }

  /** The output so far, the time, and flags for the reason of a kill. */
  report() {
    const [stdout, stderr] = [this.stdout.kept(), this.stderr.kept()];
    return {
      stdout: stdout.text,
      stderr: stderr.text,
      truncated: stdout.truncated || stderr.truncated,
      timedOut: this.killed === 'timed-out',
      aborted: this.killed === 'aborted',
      flooded: this.killed === 'flooded',
      seconds: Math.round(performance.now() - this.#since) / 1000,
    };
  }

  #kill(reason: KillReason): void {
    this.killed ??= reason;
    this.#end();
  }

  #collect(stream: Readable, into: BoundedOutput): Promise<void> {
    const { onOutput, outputBytes } = this.#bounds;
    // More output than this kills the command. Less is read to its end, and its head and tail are kept.
    const flood = Math.max(256 << 20, 16 * outputBytes);
    const decoder = new StringDecoder('utf8');
    stream.on('error', () => {});
    stream.on('data', (chunk: Buffer) => {
      if (into.total <= flood) into.push(chunk);
      onOutput?.(decoder.write(chunk));
      if (into.total > flood) this.#kill('flooded');
    });
    return new Promise((resolve) => (stream.closed ? resolve() : stream.once('close', () => resolve())));
  }
}
