import { dirname, join } from 'node:path';
import { makeFolders, readTextOrEmpty, writeAtomically } from '../../base/files.ts';
import { fieldsOf, parseJson } from '../../base/json.ts';
import { sha256Hex } from '../content-effect.ts';

interface PassingRuns {
  /** Number of tests of the last run, in any session. */
  readonly last: number;
  /** Highest number of tests by session, the latest session last. */
  readonly sessions: readonly (readonly [session: string, highest: number])[];
}

const MAX_SESSIONS = 100;

/**
 * Stores the number of tests of a passing run. A session starts with the number of the last run before it. Within a
 * session the number to compare with never falls, so neither the session's second run nor a run of another session
 * hides lost tests.
 * @param state hopgate's own folder, which no command sees
 * @returns the earlier number; null if unknown
 */
export function compareTestCount(
  state: string,
  root: string,
  command: string,
  session: string,
  total: number,
): number | null {
  const file = join(state, 'test-counts', `${sha256Hex(`${root}\0${command}`).slice(0, 32)}.json`);
  const stored = readPassingRuns(file);
  const before = new Map(stored?.sessions).get(session) ?? stored?.last ?? null;
  const others = (stored?.sessions ?? []).filter(([id]) => id !== session);
  const next: PassingRuns = {
    last: total,
    sessions: [...others.slice(1 - MAX_SESSIONS), [session, Math.max(before ?? 0, total)]],
  };
  try {
    makeFolders(dirname(file), 0o700);
    writeAtomically(file, JSON.stringify(next));
  } catch {
    // Without a writable state folder, nothing is stored.
  }
  return before;
}

function readPassingRuns(file: string): PassingRuns | null {
  const { last, sessions } = fieldsOf(parseJson(readTextOrEmpty(file))) as Partial<PassingRuns>;
  return Number.isInteger(last) && Array.isArray(sessions) ? { last: last!, sessions } : null;
}
