import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { lstatSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fieldsOf } from '../../base/json.ts';
import type { ApprovalRequest } from '../../ports/approver.ts';
import { APPROVAL_VIEW } from '../../spec/policy/closed-lists.ts';
import type { Json } from '../../spec/types.ts';

/** The current working tree, compared with the last commit and with the request. */
export interface TreeDiff {
  /** The diff against the last commit, with new files. Raw lines: escape them for a terminal. */
  readonly lines: readonly string[];
  /** Changed files of the request that have changed again since it was made. */
  readonly changedSince: readonly string[];
  /** True if the diff covers only the files that would be committed; false if it covers all that differ. */
  readonly ofShipped: boolean;
  /** The reason for a missing or incomplete diff; null if it is complete. */
  readonly problem: string | null;
}

const LARGEST = 16 << 20;
const SECONDS = 30;
/** The most characters of file names on git's command line. */
const LONGEST = 64 << 10;
/** The most untracked files to show; files named in the request come first. */
const MOST_NEW = 200;

/** Compares the working tree with the last commit, for a person. Runs none of the repository's own programs. */
export function treeDiff(root: string, { view }: ApprovalRequest): TreeDiff {
  const changes = fieldsOf(view[APPROVAL_VIEW.changes]);
  const changedSince = Object.keys(changes).filter((path) => isDifferent(root, path, changes[path]));
  const files = shippedFiles(view);
  const paths = files?.map((path) => `:(top,literal)${path}`) ?? [];
  const tracked =
    files?.length === 0
      ? { text: '', problem: null }
      : git(root, 'diff', '--no-ext-diff', '--no-textconv', '--no-color', 'HEAD', '--', ...paths);
  const ofShipped = files !== null;
  if (tracked.problem !== null) return { lines: [], changedSince, ofShipped, problem: tracked.problem };
  const listed = git(root, 'ls-files', '--others', '--exclude-standard', '-z');
  const isOfRequest = (path: string): boolean => Object.hasOwn(changes, path);
  const untracked = listed.text.split('\0').filter((path) => path !== '' && (files?.includes(path) ?? true));
  const [first, others] = [untracked.filter(isOfRequest), untracked.filter((path) => !isOfRequest(path))];
  const shown = [...first, ...others].slice(0, MOST_NEW);
  const added = shown.map((path) =>
    git(root, 'diff', '--no-index', '--no-ext-diff', '--no-textconv', '--no-color', '--', '/dev/null', path),
  );
  const parts = [tracked, listed, ...added];
  return {
    lines: linesOf([tracked, ...added].map(({ text }) => text).join('')),
    changedSince,
    ofShipped,
    problem:
      parts.find(({ problem }) => problem !== null)?.problem ??
      (shown.length < untracked.length ? `${untracked.length - shown.length} more new files are not shown` : null),
  };
}

/** The files that would be committed; null if they are unknown, or too many for git's command line. */
function shippedFiles(view: ApprovalRequest['view']): readonly string[] | null {
  const { files } = fieldsOf(view[APPROVAL_VIEW.ships]);
  return Array.isArray(files) && files.join().length < LONGEST ? files.map(String) : null;
}

const linesOf = (text: string): readonly string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

/** Compares a file with the sha256 in the request; `then` is null if the file was deleted. */
function isDifferent(root: string, path: string, then: Json | undefined): boolean {
  if (path.startsWith('/') || posix.normalize(path) !== path || path.startsWith('..')) return true;
  try {
    const file = join(root, path);
    if (!lstatSync(file).isFile()) return true;
    return createHash('sha256').update(readFileSync(file)).digest('hex') !== then;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT' || then !== null;
  }
}

function git(root: string, ...args: readonly string[]): { readonly text: string; readonly problem: string | null } {
  const { stdout, stderr, status, error } = spawnSync(
    'git',
    ['-C', root, '-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null', '-c', 'core.quotePath=true', ...args],
    {
      encoding: 'utf8',
      maxBuffer: LARGEST,
      // A named pipe in place of one of git's files would block git forever.
      timeout: SECONDS * 1000,
      killSignal: 'SIGKILL',
      env: {
        PATH: process.env['PATH'] ?? '',
        GIT_CONFIG_GLOBAL: '/dev/null',
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_OPTIONAL_LOCKS: '0',
        GIT_NO_LAZY_FETCH: '1',
      },
    },
  );
  // `diff --no-index` exits with 1 if there is a difference.
  if (!error && (status === 0 || (status === 1 && args.includes('--no-index')))) return { text: stdout, problem: null };
  const why = error ? error.message : (stderr.split('\n').find((line) => line !== '') ?? `git ended with ${status}`);
  return { text: stdout ?? '', problem: why };
}
