import { hash } from 'node:crypto';
import { appendFileSync, closeSync, fstatSync, mkdirSync, openSync, readSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Clock } from '../../ports/clock.ts';
import type { TranscriptSink } from '../../ports/transcript-sink.ts';

/** Where the transcript of a session lies, beside its evidence. */
export function transcriptPath(stateDir: string, sessionId: string): string {
  const name = /^\w[\w.-]{0,127}$/.test(sessionId) ? sessionId : hash('sha256', sessionId);
  return join(stateDir, 'transcripts', `${name}.jsonl`);
}

export interface TranscriptFileOptions {
  readonly clock?: Clock;
  /** Told when an item could not be kept (a full disk): the transcript then has a gap, and says so by its count. */
  readonly onError?: (error: unknown) => void;
}

/** Keeps a transcript in a file of its owner (0600), an item a line; goes on where the file ends. One writer at a time, as the session has. */
export function transcriptTo(file: string, { clock = Date, onError }: TranscriptFileOptions = {}): TranscriptSink {
  let next: number | null = null;
  return {
    add(event) {
      try {
        next ??= begin(file);
        const item = { n: next, at: new Date(clock.now()).toISOString(), ...event };
        next += 1;
        appendFileSync(file, `${JSON.stringify(item)}\n`, { mode: 0o600 });
      } catch (error) {
        onError?.(error);
      }
    },
  };
}

/** The number of lines that are there; a last one that was cut off is ended, so that the next stands on its own. */
function begin(file: string): number {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const fd = openSync(file, 'a+', 0o600);
  try {
    const { size } = fstatSync(fd);
    const chunk = Buffer.alloc(1 << 16);
    let lines = 0;
    let last = '\n'.charCodeAt(0);
    for (let at = 0; at < size; ) {
      const read = readSync(fd, chunk, 0, chunk.length, at);
      if (read === 0) break;
      for (const byte of chunk.subarray(0, read)) if (byte === 10) lines += 1;
      last = chunk[read - 1]!;
      at += read;
    }
    if (last === 10) return lines;
    appendFileSync(fd, '\n');
    return lines + 1;
  } finally {
    closeSync(fd);
  }
}
