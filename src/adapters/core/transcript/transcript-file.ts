import { hash } from 'node:crypto';
import { appendFileSync, closeSync, fstatSync, openSync, readSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolders } from '../../../base/files.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { TranscriptSink } from '../../../ports/transcript-sink.ts';
import type { RecordedTranscriptItem } from './transcript-items.ts';

/** The path of a session's transcript, in the folder of its evidence. */
export function transcriptPath(stateDir: string, sessionId: string): string {
  const name = /^\w[\w.-]{0,127}$/.test(sessionId) ? sessionId : hash('sha256', sessionId);
  return join(stateDir, 'transcripts', `${name}.jsonl`);
}

/** The longest wait for another writer, and the age after which its lock counts as abandoned. */
const LOCK_WAIT_MS = 2_000;

interface TranscriptFileOptions {
  readonly clock?: Clock;
  /** Called when an item could not be written (a full disk). The transcript's numbering then has a gap. */
  readonly onError?: (error: unknown) => void;
}

/** A sink that appends the items of one call together, without another writer's items between them. */
export interface TranscriptFile extends TranscriptSink {
  add(...items: readonly RecordedTranscriptItem[]): void;
}

/** Appends a transcript to a private file (0600), one item per line, after the items of other processes. */
export function transcriptTo(file: string, { clock = Date, onError }: TranscriptFileOptions = {}): TranscriptFile {
  let end: End = { items: 0, bytes: 0 };
  let missing = 0;
  return {
    add(...items) {
      if (items.length === 0) return;
      try {
        end = append(file, end, missing, items, clock);
        missing = 0;
      } catch (error) {
        missing += items.length;
        onError?.(error);
      }
    },
  };
}

interface End {
  readonly items: number;
  readonly bytes: number;
}

/** @param missing the number of items before these that could not be written */
function append(
  file: string,
  lastEnd: End,
  missing: number,
  added: readonly RecordedTranscriptItem[],
  clock: Clock,
): End {
  if (lastEnd.bytes === 0) makeFolders(dirname(file), 0o700);
  const unlock = lock(`${file}.lock`);
  try {
    const fd = openSync(file, 'a+', 0o600);
    try {
      const { items, bytes, isCut } = endOf(fd, lastEnd);
      const at = new Date(clock.now()).toISOString();
      const lines = added.map((item, index) => JSON.stringify({ n: items + missing + index, at, ...item }));
      const text = `${isCut ? '\n' : ''}${lines.join('\n')}\n`;
      appendFileSync(fd, text);
      return { items: items + missing + lines.length, bytes: bytes + Buffer.byteLength(text) };
    } finally {
      closeSync(fd);
    }
  } finally {
    unlock();
  }
}

const LINE_BREAK = 10;

/** Counts the lines of the file. A truncated last line counts; it is ended before the next item is appended. */
function endOf(fd: number, { items, bytes }: End): End & { readonly isCut: boolean } {
  const { size } = fstatSync(fd);
  const isShorter = size < bytes;
  const chunk = size === bytes ? Buffer.of() : Buffer.alloc(1 << 16);
  let lines = isShorter ? 0 : items;
  let last = LINE_BREAK;
  for (let at = isShorter ? 0 : bytes; at < size; ) {
    const read = readSync(fd, chunk, 0, chunk.length, at);
    if (read === 0) break;
    const part = chunk.subarray(0, read);
    for (let to = part.indexOf(LINE_BREAK); to >= 0; to = part.indexOf(LINE_BREAK, to + 1)) lines += 1;
    last = chunk[read - 1]!;
    at += read;
  }
  return last === LINE_BREAK
    ? { items: lines, bytes: size, isCut: false }
    : { items: lines + 1, bytes: size, isCut: true };
}

/** Locks the file for one writer. After the wait, writing continues without it; a repeated item number shows this. */
function lock(file: string): () => void {
  for (const until = Date.now() + LOCK_WAIT_MS; ; pause()) {
    try {
      closeSync(openSync(file, 'wx', 0o600));
      return () => rmSync(file, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      if (isAbandoned(file)) rmSync(file, { force: true });
      else if (Date.now() > until) return () => {};
    }
  }
}

function isAbandoned(file: string): boolean {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats !== undefined && Date.now() - stats.mtimeMs > LOCK_WAIT_MS;
}

const pause = (): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
