import { hash } from 'node:crypto';
import { lstatSync, readFileSync } from 'node:fs';

const MAX_BYTES = 256 << 20;
/** Offset of the mode in an entry; sizes of the fields before the object name. */
const [MODE_AT, NAME_AT] = [24, 40];
const EXTENDED = 0x4000;
const STAGE_AND_VALID = 0xb000;

/**
 * A hash of the paths, modes and objects in git's index, without the times and sizes that git stores to detect changes;
 * empty if there is no index.
 *
 * @param path the index, which is not trusted
 * @returns null for a format that is not known here (version 4, or damaged)
 */
export function stagedEntries(path: string): string | null {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return '';
  if (!stats.isFile() || stats.size > MAX_BYTES) return null;
  const index = readFileSync(path);
  return entriesOf(index, 20) ?? entriesOf(index, 32);
}

function entriesOf(index: Buffer, nameBytes: number): string | null {
  if (index.length < 12 || index.toString('latin1', 0, 4) !== 'DIRC') return null;
  if (![2, 3].includes(index.readUInt32BE(4))) return null;
  const seen: Buffer[] = [];
  let at = 12;
  for (let left = index.readUInt32BE(8); left > 0; left -= 1) {
    const flagsAt = at + NAME_AT + nameBytes;
    if (flagsAt + 2 > index.length) return null;
    const flags = index.readUInt16BE(flagsAt);
    const pathAt = flagsAt + (flags & EXTENDED ? 4 : 2);
    const end = index.indexOf(0, pathAt);
    const length = flags & 0xfff;
    // A wrong size of names shows in a path of another length.
    if (end === -1 || (length < 0xfff && end - pathAt !== length)) return null;
    seen.push(index.subarray(at + MODE_AT, at + MODE_AT + 4), index.subarray(at + NAME_AT, flagsAt));
    seen.push(Buffer.from([(flags & STAGE_AND_VALID) >> 8]), index.subarray(pathAt, end + 1));
    at += (end - at + 8) & ~7;
  }
  return hash('sha256', Buffer.concat(seen), 'hex');
}
