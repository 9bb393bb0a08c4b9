import { execFile } from 'node:child_process';
import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fieldsOf, type Json } from '../../base/json.ts';
import { isMaskedByConfig } from '../../gate/scope/masks.ts';
import type { ApprovalRequest } from '../../ports/approver.ts';
import { APPROVAL_FIELD_TITLES } from '../../spec/policy/closed-lists.ts';
import { sha256Hex } from '../content-effect.ts';
import { type GitConfigValue, keysThatRunPrograms, parseGitConfig, submoduleNamesIn } from '../git/git-config-keys.ts';
import { gitEnvironment, hardenedArgv } from '../git/hardened-git.ts';
import { findRepository, type GitRepository } from '../git/repository.ts';
import { isStop } from '../workspace/tool-stop.ts';

/** The current working tree, compared with the last commit and with the request. */
export interface TreeDiff {
  /** The diff against the last commit, including new files. The lines are raw: escape them for a terminal. */
  readonly lines: readonly string[];
  /** Files that the session changed and that are no longer as its last change left them. */
  readonly changedSince: readonly string[];
  /** True if the diff covers only the files that would be committed; false if it covers all that differ. */
  readonly ofShipped: boolean;
  /** The reason for a missing or incomplete diff; null if it is complete. */
  readonly problem: string | null;
}

const MAX_BYTES = 16 << 20;
const SECONDS = 30;
/** Maximum number of characters of file names on git's command line. */
const MAX_LIST_CHARS = 64 << 10;
/** Maximum number of untracked files to show; files named in the request come first. */
const MAX_NEW = 200;

/**
 * Compares the working tree with the last commit, for a person to read. It runs outside the sandbox, so it runs no
 * program that the repository's configuration names, and looks into no submodule.
 *
 * @param mask patterns of files whose content is left out
 */
export async function diffOfWorkingTree(
  root: string,
  { view }: Pick<ApprovalRequest, 'view'>,
  mask: readonly string[] = [],
): Promise<TreeDiff> {
  const changes = fieldsOf(view[APPROVAL_FIELD_TITLES.changes]);
  const changedSince = Object.keys(changes).filter((path) => isDifferent(root, path, changes[path]));
  const files = shippedFiles(view);
  const ofShipped = files !== null;
  const paths = files?.map((path) => `:(top,literal)${path}`) ?? [];
  const plain = mask.length === 0 ? PLAIN : ['--no-renames', ...PLAIN];
  const git = await quietGit(root);
  if ('problem' in git) return { lines: [], changedSince, ofShipped, problem: git.problem };
  const tracked =
    files?.length === 0 ? { text: '', problem: null } : await git.run('diff', ...plain, 'HEAD', '--', ...paths);
  if (tracked.problem !== null) return { lines: [], changedSince, ofShipped, problem: tracked.problem };
  const listed = await git.run('ls-files', '--others', '--exclude-standard', '-z');
  const isOfRequest = (path: string): boolean => Object.hasOwn(changes, path);
  const untracked = listed.text.split('\0').filter((path) => path !== '' && (files?.includes(path) ?? true));
  const [first, others] = [untracked.filter(isOfRequest), untracked.filter((path) => !isOfRequest(path))];
  const shown = [...first, ...others].slice(0, MAX_NEW);
  const added: DiffRun[] = [];
  for (const path of shown) added.push(await git.run('diff', '--no-index', ...plain, '--', '/dev/null', path));
  const parts = [tracked, listed, ...added];
  return {
    lines: withoutMasked(linesOf([tracked, ...added].map(({ text }) => text).join('')), mask),
    changedSince,
    ofShipped,
    problem:
      parts.find(({ problem }) => problem !== null)?.problem ??
      (shown.length < untracked.length ? `${untracked.length - shown.length} more new files are not shown` : null),
  };
}

/** Removes the content of masked files from a diff, and of files whose names git quotes. */
function withoutMasked(lines: readonly string[], mask: readonly string[]): readonly string[] {
  if (mask.length === 0) return lines;
  let hides = false;
  return lines.flatMap((line) => {
    if (!line.startsWith('diff --git ')) return hides ? [] : [line];
    // Without renames, both names are the same: `a/NAME b/NAME`.
    const name = line.slice(
      'diff --git a/'.length,
      'diff --git '.length + (line.length - 'diff --git '.length - 1) / 2,
    );
    hides = line.includes('"') || !line.endsWith(` b/${name}`) || isMaskedByConfig(name, mask);
    return hides ? [line, '(masked)'] : [line];
  });
}

const PLAIN = ['--no-ext-diff', '--no-textconv', '--no-color', '--ignore-submodules=dirty'];

/** The files that would be committed; null if they are unknown, or too many for git's command line. */
function shippedFiles(view: ApprovalRequest['view']): readonly string[] | null {
  const { files } = fieldsOf(view[APPROVAL_FIELD_TITLES.ships]);
  return Array.isArray(files) && files.join().length < MAX_LIST_CHARS ? files.map(String) : null;
}

const linesOf = (text: string): readonly string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

/** True if a file differs from its sha256 in the request, which is null for a deleted file. */
function isDifferent(root: string, path: string, then: Json | undefined): boolean {
  if (path.startsWith('/') || posix.normalize(path) !== path || path.startsWith('..')) return true;
  try {
    const file = join(root, path);
    if (!lstatSync(file).isFile()) return true;
    return sha256Hex(readFileSync(file)) !== then;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT' || then !== null;
  }
}

interface DiffRun {
  readonly text: string;
  readonly problem: string | null;
}

/** True for the configuration key by which git fails if a filter has no program. */
const isRequired = ({ key }: GitConfigValue): boolean => /^filter\..*\.required$/s.test(key);

/** Returns a function that runs git on the repository of a root, without the programs of its configuration. */
async function quietGit(
  root: string,
): Promise<{ run(...args: readonly string[]): Promise<DiffRun> } | { readonly problem: string }> {
  const repository = findRepository(topOf(root));
  if (isStop(repository)) return { problem: repository.stop.message };
  const listed = await runGit(root, repository, [], ['config', '--list', '-z', '--show-scope', '--includes']);
  if (listed.problem !== null) return { problem: listed.problem };
  const config = parseGitConfig(listed.text);
  return { run: (...args) => runGit(root, repository, config, args) };
}

/** The folder of the work tree that a root is in; the root itself if it is in none. */
function topOf(root: string): string {
  for (let at = root; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at;
    if (at === dirname(at)) return root;
  }
}

async function runGit(
  root: string,
  repository: GitRepository,
  config: readonly GitConfigValue[],
  args: readonly string[],
): Promise<DiffRun> {
  const programs = [...keysThatRunPrograms(config), ...config.filter(isRequired).map(({ key }) => key)];
  const emptied = programs.map((key, n) => ({ [`GIT_CONFIG_KEY_${n}`]: key, [`GIT_CONFIG_VALUE_${n}`]: '' }));
  const [program, ...words] = hardenedArgv(repository, submoduleNamesIn(config), ['core.quotePath=true']);
  const options = {
    cwd: root,
    encoding: 'utf8' as const,
    maxBuffer: MAX_BYTES,
    // A named pipe in place of one of git's files would block git forever.
    timeout: SECONDS * 1000,
    killSignal: 'SIGKILL' as const,
    env: {
      PATH: process.env['PATH'] ?? '',
      ...gitEnvironment(repository, 'none'),
      ...Object.assign({ GIT_CONFIG_COUNT: `${programs.length}` }, ...emptied),
    },
  };
  return new Promise((resolve) => {
    execFile(program!, [...words, ...args], options, (error, stdout, stderr) => {
      // `diff --no-index` exits with 1 if there is a difference.
      if (!error || (error.code === 1 && args.includes('--no-index'))) return resolve({ text: stdout, problem: null });
      resolve({ text: stdout, problem: stderr.split('\n').find((line) => line !== '') ?? error.message });
    });
  });
}
