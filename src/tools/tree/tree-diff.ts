import { execFile } from 'node:child_process';
import { cpSync, existsSync, lstatSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, posix } from 'node:path';
import { fieldsOf, type Json } from '../../base/json.ts';
import { splitWords } from '../../base/text.ts';
import { isGitInternal, isMaskedByConfig } from '../../gate/scope/masks.ts';
import type { ApprovalRequest } from '../../ports/approver.ts';
import { APPROVAL_FIELD_TITLES } from '../../spec/policy/approval-fields.ts';
import { sha256Hex } from '../content-effect.ts';
import { type GitConfigValue, keysThatRunPrograms, parseGitConfig, submoduleNamesIn } from '../git/git-config-keys.ts';
import { gitEnvironment, hardenedArgv } from '../git/hardened-git.ts';
import { findRepository, type GitRepository } from '../git/repository.ts';
import { isStop } from '../workspace/tool-stop.ts';

/** The current working tree, compared with the last commit and with the request. */
export interface TreeDiff {
  /** The diff against the last commit, including new files. The lines are raw: escape them for a terminal. */
  readonly lines: readonly string[];
  /** Files that the session changed and that somebody has changed again since the session's last change. */
  readonly changedSince: readonly string[];
  /** True if the diff covers only the files that would be committed; false if it covers all files that differ. */
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
 * program that the repository's configuration names, and looks into no submodule. Neither the index nor .gitattributes
 * hides a text that would be committed.
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
  const folder = mkdtempSync(join(tmpdir(), 'hopgate-diff-'));
  try {
    const isOfRequest = (path: string): boolean => Object.hasOwn(changes, path);
    const diff = await diffWithCommit(root, join(folder, 'index'), files, isOfRequest, mask);
    return { ...diff, changedSince, ofShipped: files !== null };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Compares `files`, or all files if null, with the last commit. Uses an index of its own at the path `index`. */
async function diffWithCommit(
  root: string,
  index: string,
  files: readonly string[] | null,
  isOfRequest: (path: string) => boolean,
  mask: readonly string[],
): Promise<Pick<TreeDiff, 'lines' | 'problem'>> {
  const git = await quietGit(root, index, files === null);
  if ('problem' in git) return { lines: [], problem: git.problem };
  const head = await git.run('', 'rev-parse', '--verify', '--quiet', 'HEAD^{tree}');
  const base = (head.text || (await git.run('', 'hash-object', '-t', 'tree', '--stdin')).text).trim();
  const listed = files ? NOTHING : await git.run('', 'ls-files', '--others', '--exclude-standard', '--full-name', '-z');
  const untracked = namesIn(listed).filter((path) => !path.endsWith('/') && !isGitInternal(path));
  const [first, others] = [untracked.filter(isOfRequest), untracked.filter((path) => !isOfRequest(path))];
  const shown = files ?? [...first, ...others].slice(0, MAX_NEW);
  // Each new file gets an index entry with the id of another object. So git reads the file itself, and compares it like
  // a tracked file.
  const entries = shown.map((path) => `100644 ${base}\t${path}\0`).join('');
  const added = await git.run(entries, 'update-index', '-z', '--index-info');
  const named = files ? NOTHING : await git.run('', 'diff', ...PLAIN, '--no-renames', '--name-only', '-z', base);
  const masked = (files ?? namesIn(named)).filter((path) => isMaskedByConfig(path, mask));
  if (masked.join().length > MAX_LIST_CHARS) return { lines: [], problem: 'too many masked files differ' };
  // An empty list of paths would mean all files. `.git` is listed, because no file has this name.
  const paths = files
    ? ['.git', ...files.filter((path) => !masked.includes(path))].map((path) => `:(top,literal)${path}`)
    : masked.map((path) => `:(top,exclude,literal)${path}`);
  const words = [...PLAIN, ...(mask.length === 0 ? [] : ['--no-renames']), base, '--', ...paths];
  const texts = await git.run('', 'diff', '--text', ...words);
  // A large binary file leaves no room for the others.
  const { text } = texts.problem === null ? texts : await git.run('', 'diff', ...words);
  const hidden = masked.flatMap((path) => [`diff --git a/${path} b/${path}`, '(masked)']);
  return {
    lines: [...withoutBinary(linesOf(text)), ...hidden],
    problem:
      [listed, added, named, texts].find(({ problem }) => problem !== null)?.problem ??
      (shown.some((path) => path.includes('\ufffd')) ? 'the name of a file is not UTF-8' : null) ??
      (shown.length < untracked.length ? `${untracked.length - shown.length} more new files are not shown` : null),
  };
}

const namesIn = ({ text }: DiffRun): readonly string[] => text.split('\0').filter((path) => path !== '');

/** Removes the content of binary files from a diff. Git's attributes could call a text binary, so they do not count. */
function withoutBinary(lines: readonly string[]): readonly string[] {
  const parts: string[][] = [];
  for (const line of lines) line.startsWith('diff --git ') ? parts.push([line]) : parts.at(-1)?.push(line);
  return parts.flatMap((part) => {
    const content = part.findIndex((line) => line.startsWith('@@ '));
    return part.some((line) => line.includes('\0')) ? [...part.slice(0, content), 'Binary files differ'] : part;
  });
}

const PLAIN = splitWords(`
  --no-ext-diff --no-textconv --no-color --ignore-submodules=dirty --src-prefix=a/ --dst-prefix=b/
`);
const NOTHING: DiffRun = { text: '', problem: null };

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

/**
 * Returns a function that runs git on the repository of a root, without the programs of its configuration, with the
 * index at the path `index`, which is first empty or a copy of the repository's.
 */
async function quietGit(
  root: string,
  index: string,
  copies: boolean,
): Promise<{ run(stdin: string, ...args: readonly string[]): Promise<DiffRun> } | { readonly problem: string }> {
  const repository = findRepository(topOf(root));
  if (isStop(repository)) return { problem: repository.stop.message };
  const own = join(repository.gitDir, 'index');
  if (copies && existsSync(own)) cpSync(own, index, { preserveTimestamps: true });
  const listed = await runGit(root, repository, [], index, '', splitWords('config --list -z --show-scope --includes'));
  if (listed.problem !== null) return { problem: listed.problem };
  const config = parseGitConfig(listed.text);
  return { run: (stdin, ...args) => runGit(root, repository, config, index, stdin, args) };
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
  index: string,
  stdin: string,
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
      GIT_INDEX_FILE: index,
      ...Object.assign({ GIT_CONFIG_COUNT: `${programs.length}` }, ...emptied),
    },
  };
  return new Promise((resolve) => {
    const child = execFile(program!, [...words, ...args], options, (error, stdout, stderr) => {
      if (!error) return resolve({ text: stdout, problem: null });
      const said = stderr.split('\n').find((line) => line !== '');
      resolve({ text: stdout, problem: said ?? (error.killed ? 'git took too long' : error.message) });
    });
    child.stdin?.on('error', () => {}).end(stdin);
  });
}
