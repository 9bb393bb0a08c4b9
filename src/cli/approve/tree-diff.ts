import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fieldsOf } from '../../base/json.ts';
import type { ApprovalRequest } from '../../ports/approver.ts';
import { APPROVAL_VIEW } from '../../spec/policy/closed-lists.ts';
import type { Json } from '../../spec/types.ts';
import { gitEnvironment, hardenedArgv } from '../../tools/git/harden.ts';
import { type ConfigValue, commandKeys, parseConfig, submoduleNames } from '../../tools/git/judge-config.ts';
import { findRepository, type Repository } from '../../tools/git/repository.ts';
import { isStop } from '../../tools/workspace/outcome.ts';

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

/**
 * Compares the working tree with the last commit, for a person to read. It runs outside the sandbox, so it runs no
 * program that the repository's configuration names, and looks into no submodule.
 */
export function treeDiff(root: string, { view }: ApprovalRequest): TreeDiff {
  const changes = fieldsOf(view[APPROVAL_VIEW.changes]);
  const changedSince = Object.keys(changes).filter((path) => isDifferent(root, path, changes[path]));
  const files = shippedFiles(view);
  const ofShipped = files !== null;
  const paths = files?.map((path) => `:(top,literal)${path}`) ?? [];
  const git = quietGit(root);
  if ('problem' in git) return { lines: [], changedSince, ofShipped, problem: git.problem };
  const tracked = files?.length === 0 ? { text: '', problem: null } : git.run('diff', ...PLAIN, 'HEAD', '--', ...paths);
  if (tracked.problem !== null) return { lines: [], changedSince, ofShipped, problem: tracked.problem };
  const listed = git.run('ls-files', '--others', '--exclude-standard', '-z');
  const isOfRequest = (path: string): boolean => Object.hasOwn(changes, path);
  const untracked = listed.text.split('\0').filter((path) => path !== '' && (files?.includes(path) ?? true));
  const [first, others] = [untracked.filter(isOfRequest), untracked.filter((path) => !isOfRequest(path))];
  const shown = [...first, ...others].slice(0, MOST_NEW);
  const added = shown.map((path) => git.run('diff', '--no-index', ...PLAIN, '--', '/dev/null', path));
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

const PLAIN = ['--no-ext-diff', '--no-textconv', '--no-color', '--ignore-submodules=dirty'];

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

interface Ran {
  readonly text: string;
  readonly problem: string | null;
}

/** The key that makes git fail if a filter has no program. */
const isRequired = ({ key }: ConfigValue): boolean => /^filter\..*\.required$/s.test(key);

/** Git on a repository, without the programs of its configuration. */
function quietGit(root: string): { run(...args: readonly string[]): Ran } | { readonly problem: string } {
  const repository = findRepository(topOf(root));
  if (isStop(repository)) return { problem: repository.stop.message };
  const listed = runGit(root, repository, [], ['config', '--list', '-z', '--show-scope', '--includes']);
  if (listed.problem !== null) return { problem: listed.problem };
  const config = parseConfig(listed.text);
  return { run: (...args) => runGit(root, repository, config, args) };
}

/** The folder of the work tree that a root is in; the root itself if it is in none. */
function topOf(root: string): string {
  for (let at = root; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at;
    if (at === dirname(at)) return root;
  }
}

function runGit(root: string, repository: Repository, config: readonly ConfigValue[], args: readonly string[]): Ran {
  const programs = [...commandKeys(config), ...config.filter(isRequired).map(({ key }) => key)];
  const emptied = programs.map((key, n) => ({ [`GIT_CONFIG_KEY_${n}`]: key, [`GIT_CONFIG_VALUE_${n}`]: '' }));
  const [program, ...words] = hardenedArgv(repository, submoduleNames(config), ['core.quotePath=true']);
  const { stdout, stderr, status, error } = spawnSync(program!, [...words, ...args], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: LARGEST,
    // A named pipe in place of one of git's files would block git forever.
    timeout: SECONDS * 1000,
    killSignal: 'SIGKILL',
    env: {
      PATH: process.env['PATH'] ?? '',
      ...gitEnvironment(repository, 'none'),
      ...Object.assign({ GIT_CONFIG_COUNT: `${programs.length}` }, ...emptied),
    },
  });
  // `diff --no-index` exits with 1 if there is a difference.
  if (!error && (status === 0 || (status === 1 && args.includes('--no-index')))) return { text: stdout, problem: null };
  const why = error ? error.message : (stderr.split('\n').find((line) => line !== '') ?? `git ended with ${status}`);
  return { text: stdout ?? '', problem: why };
}
