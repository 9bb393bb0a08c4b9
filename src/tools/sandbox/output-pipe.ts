import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

/** A pipe for what a command writes: our end, and the descriptor that the command gets. */
export interface OutputPipe {
  readonly reader: Readable;
  readonly writer: number;
  /** Lets go of the command's end; to be called once it has been handed over. */
  handedOver(): void;
}

/** Makes pipes; null where this host cannot. */
export type OutputPipes = () => OutputPipe | null;

/** One program makes so many at once. */
const BATCH = 32;

/**
 * Real pipes. Node gives children sockets, and what opens `/dev/stderr` or `/dev/stdout` by its path cannot open a socket. Each is a named pipe in a
 * folder of our own that loses its name as soon as both ends are open, so it belongs to one run alone.
 *
 * @param parent where the folder may be made
 */
export function outputPipes(parent: string): OutputPipes {
  let folder: string | null = null;
  let names: string[] = [];
  let broken = false;
  const make = (): void => {
    folder ??= mkdtempSync(join(parent, 'pipes-'));
    const made = Array.from({ length: BATCH }, (_, index) => join(folder!, `${index}`));
    // Opened by path through /proc, its permissions are looked at, and the command may be another user.
    execFileSync('mkfifo', ['-m', '666', ...made], { stdio: 'ignore' });
    names = made;
  };
  return () => {
    if (broken) return null;
    try {
      if (names.length === 0) make();
      return open(names.pop()!);
    } catch {
      broken = true;
      return null;
    }
  };
}

function open(name: string): OutputPipe {
  const reading = openSync(name, constants.O_RDONLY | constants.O_NONBLOCK);
  let writer: number;
  try {
    writer = openSync(name, constants.O_WRONLY);
  } catch (error) {
    closeSync(reading);
    throw error;
  } finally {
    rmSync(name, { force: true });
  }
  const reader = new Socket({ fd: reading, readable: true, writable: false });
  return { reader, writer, handedOver: () => closeSync(writer) };
}
