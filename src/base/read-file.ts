import { closeSync, constants, fstatSync, openSync, readSync, realpathSync, type Stats, statSync } from 'node:fs';
import { isPathWithin } from './paths.ts';

/** Thrown for a file that must not be read, such as a device. `message` names its path; `remedy` is the next step. */
export class UnreadableFile extends Error {
  readonly path: string;
  readonly problem: string;
  readonly remedy: string;
  constructor(path: string, problem: string, remedy: string) {
    super(`${path} ${problem}. ${remedy}`);
    this.name = 'UnreadableFile';
    this.path = path;
    this.problem = problem;
    this.remedy = remedy;
  }
}

/**
 * Reads a file of an untrusted repository. There, a link to `/dev/zero` would never end, a FIFO would wait endlessly
 * for a writer, and a file of 100 GB would fill the memory. Only a regular file within the size limit is read; a file
 * that grows meanwhile is refused too.
 * @param within if given, a link is followed to files in this folder only (absolute, real)
 * @throws UnreadableFile; the file system's own error if the file does not exist or permission is denied
 */
export function readRegularFile(path: string, maxBytes: number, within?: string): Buffer {
  const found = statSync(path);
  refuseUnlessRegular(path, found);
  if (within !== undefined && !isPathWithin(within, realpathSync(path)))
    throw new UnreadableFile(path, `is a link that leads out of ${within}`, 'Put a file in its place.');
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  try {
    const opened = fstatSync(fd);
    refuseUnlessRegular(path, opened);
    if (opened.size > maxBytes)
      throw new UnreadableFile(path, `is larger than ${maxBytes} bytes`, 'Make it smaller, or move it away.');
    const bytes = Buffer.allocUnsafe(opened.size + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read)
      read = readSync(fd, bytes, length, bytes.length - length, null);
    if (length > opened.size) throw new UnreadableFile(path, 'grew while it was read', 'Run this again.');
    return bytes.subarray(0, length);
  } finally {
    closeSync(fd);
  }
}

function refuseUnlessRegular(path: string, stats: Stats): void {
  if (stats.isFile()) return;
  const is = stats.isDirectory()
    ? 'a folder'
    : stats.isFIFO()
      ? 'a named pipe'
      : stats.isSocket()
        ? 'a socket'
        : 'a device';
  throw new UnreadableFile(path, `is ${is}, not a file`, 'Move it away, or put a file in its place.');
}
