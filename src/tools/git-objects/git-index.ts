import { createHash, hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { lstatIfAny } from '../../base/files.ts';
import { valueOr } from '../../base/value-or.ts';

const MAX_BYTES = 256 << 20;
/** Offsets of the mode and of the object name in an entry of the index. */
const [MODE_AT, NAME_AT] = [24, 40];
const EXTENDED = 0x4000;
const ASSUME_UNCHANGED = 0x8000;
const STAGE = 0x3000;
const NOTHING = Buffer.of();

/** A file in the index. Its path is `prefix` (shared with the previous path), then the bytes from `pathAt`. */
interface IndexRow {
  readonly at: number;
  readonly flagsAt: number;
  readonly flags: number;
  readonly prefix: Buffer;
  readonly pathAt: number;
  /** Offset of the NUL after the path. */
  readonly end: number;
}

/**
 * A hash of the paths, modes and objects in git's index, without the times and sizes that git stores to detect changes;
 * empty if there is no index.
 * @param path the index, which is not trusted
 * @returns null for a format that this reader lacks, and for a damaged index
 */
export function hashStagedEntries(path: string): string | null {
  const stats = lstatIfAny(path);
  if (!stats) return '';
  const index = readIndex(path);
  if (index === null) return null;
  const { bytes, rows } = index;
  const hashed = rows.flatMap(({ at, flagsAt, flags, prefix, pathAt, end }) => [
    bytes.subarray(at + MODE_AT, at + MODE_AT + 4),
    bytes.subarray(at + NAME_AT, flagsAt),
    Buffer.from([(flags & STAGE) >> 8]),
    prefix,
    bytes.subarray(pathAt, end + 1),
  ]);
  return hash('sha256', Buffer.concat(hashed), 'hex');
}

/**
 * A copy of an index in which git assumes covered files to be unchanged, so that it neither reports nor stages their
 * covers; null if none of them is tracked, or the index cannot be read.
 * @param covered files and folders
 */
export function indexAssumingUnchanged(path: string, covered: readonly string[]): Buffer | null {
  if (covered.length === 0) return null;
  const coveredPaths = new Set(covered);
  const isCovered = (name: string): boolean =>
    coveredPaths.has(name) || (name.includes('/') && isCovered(name.slice(0, name.lastIndexOf('/'))));
  const index = readIndex(path);
  if (index === null) return null;
  const { bytes, rows, nameBytes } = index;
  const tracked = rows.filter((row) => isCovered(pathOf(bytes, row).toString('utf8')));
  if (tracked.length === 0) return null;
  for (const { flagsAt, flags } of tracked) bytes.writeUInt16BE(flags | ASSUME_UNCHANGED, flagsAt);
  const end = bytes.length - nameBytes;
  const isChecked = bytes.subarray(end).some((byte) => byte !== 0);
  if (isChecked)
    createHash(nameBytes === 20 ? 'sha1' : 'sha256')
      .update(bytes.subarray(0, end))
      .digest()
      .copy(bytes, end);
  return bytes;
}

const pathOf = (bytes: Buffer, { prefix, pathAt, end }: IndexRow): Buffer =>
  prefix.length === 0 ? bytes.subarray(pathAt, end) : Buffer.concat([prefix, bytes.subarray(pathAt, end)]);

function readIndex(path: string) {
  const stats = lstatIfAny(path);
  if (!stats?.isFile() || stats.size > MAX_BYTES) return null;
  // Git may have removed the index in the meantime.
  const bytes = valueOr(() => readFileSync(path), null);
  if (bytes === null) return null;
  for (const nameBytes of [20, 32]) {
    const rows = rowsOf(bytes, nameBytes);
    if (rows) return { bytes, rows, nameBytes };
  }
  return null;
}

function rowsOf(index: Buffer, nameBytes: number): readonly IndexRow[] | null {
  if (index.length < 12 + nameBytes || index.toString('latin1', 0, 4) !== 'DIRC') return null;
  const version = index.readUInt32BE(4);
  if (![2, 3, 4].includes(version)) return null;
  let previous: Buffer = NOTHING;
  const rows: IndexRow[] = [];
  let at = 12;
  for (let left = index.readUInt32BE(8); left > 0; left -= 1) {
    const flagsAt = at + NAME_AT + nameBytes;
    if (flagsAt + 2 > index.length) return null;
    const flags = index.readUInt16BE(flagsAt);
    let pathAt = flagsAt + (flags & EXTENDED ? 4 : 2);
    let prefix: Buffer = NOTHING;
    if (version === 4) {
      // Git's offset varint (seven bits in each byte): the number of bytes to drop from the end of the previous path.
      let drop = (index[pathAt] ?? 0) & 0x7f;
      while ((index[pathAt++] ?? 0) & 0x80) drop = (drop + 1) * 128 + ((index[pathAt] ?? 0) & 0x7f);
      if (drop > previous.length) return null;
      prefix = previous.subarray(0, previous.length - drop);
    }
    const end = index.indexOf(0, pathAt);
    const length = flags & 0xfff;
    // A wrong length of the object names is detected, because the paths then have wrong lengths.
    if (end === -1 || (length < 0xfff && prefix.length + end - pathAt !== length)) return null;
    const row = { at, flagsAt, flags, prefix, pathAt, end };
    rows.push(row);
    if (version === 4) previous = pathOf(index, row);
    at = version === 4 ? end + 1 : at + ((end - at + 8) & ~7);
  }
  return rows;
}
