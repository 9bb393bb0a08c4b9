import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * The last passing run of a command in a repository. `before` is the highest earlier number of tests, in this session
 * or at the end of the previous one.
 */
interface Known {
  readonly session: string;
  readonly total: number;
  readonly before: number;
}

/**
 * Stores the number of tests of a passing run. Within a session the compared number never falls, so a second run does
 * not hide tests that the first one lost.
 *
 * @param state hopgate's own folder, which no command sees
 * @returns the earlier number; null if unknown
 */
export function compareCount(
  state: string,
  root: string,
  command: string,
  session: string,
  total: number,
): number | null {
  const file = join(
    state,
    'test-counts',
    `${createHash('sha256').update(`${root}\0${command}`).digest('hex').slice(0, 32)}.json`,
  );
  const known = read(file);
  const before = known === null ? null : known.session === session ? Math.max(known.before, known.total) : known.total;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const next: Known = { session, total, before: before ?? total };
    writeFileSync(`${file}.new`, JSON.stringify(next), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  } catch {
    // without a writable state folder nothing is stored
  }
  return before;
}

function read(file: string): Known | null {
  try {
    const { session, total, before } = JSON.parse(readFileSync(file, 'utf8')) as Partial<Known>;
    return typeof session === 'string' && Number.isInteger(total) && Number.isInteger(before)
      ? { session, total: total!, before: before! }
      : null;
  } catch {
    return null;
  }
}
