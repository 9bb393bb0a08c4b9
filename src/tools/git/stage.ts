import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { isProtected } from '../../gate/masks.ts';
import type { ToolCall, ToolReport } from '../../ports/tool-backend.ts';
import { failed, invalid, isStop, outOfScope, type Stop } from '../workspace/outcome.ts';
import { resolveSegments, split, startsWith } from '../workspace/path-argument.ts';
import { type ChangedFile, changedFiles } from './changed-files.ts';
import type { GitSession } from './git-session.ts';
import { readPath } from './operands.ts';
import type { ParsedGit } from './parse-arguments.ts';
import { gitReport, notRun } from './report.ts';

const COMMIT = { kind: 'commit' } as const;

export interface Staged {
  readonly result: Awaited<ReturnType<GitSession['run']>>;
  readonly paths: readonly string[];
  /** Changed, asked for, but not to be staged from here. */
  readonly skipped: readonly string[];
}

/** `git add`: stages exactly those changed files that the agent asked for and may change. */
export async function addGit(session: GitSession, call: ToolCall, parsed: ParsedGit): Promise<ToolReport | Stop> {
  const chosen = new Set(parsed.options.map(({ option }) => option.long));
  const words = [...parsed.operands, ...parsed.paths];
  if (words.length === 0 && !chosen.has('all') && !chosen.has('update'))
    return invalid('args', 'git add needs paths.', 'Name files or folders; "." takes every changed file.');
  const staged = await stage(session, call, words, chosen.has('update'));
  if (isStop(staged)) return staged;
  return gitReport('add', staged.result, { paths: [...staged.paths], skipped: [...staged.skipped] });
}

/**
 * Stages the changed files beneath `words` (all of them if there are none). A file that is named itself has to be allowed; one that only lies
 * in a named folder is skipped if it is not.
 */
export async function stage(
  session: GitSession,
  call: ToolCall,
  words: readonly string[],
  trackedOnly: boolean,
): Promise<Staged | Stop> {
  const asked: string[] = [];
  for (const word of words) {
    const read = readPath(session.rules, word);
    if (isStop(read)) return read;
    asked.push(read.path);
  }
  const listed = await changedFiles(session);
  if (isStop(listed)) return listed;
  const inScope = mayStage(session, call);
  const files = listed.files.filter(({ tracked }) => tracked || !trackedOnly);
  const paths = new Set<string>();
  const skipped = new Set<string>();
  for (const path of asked.length === 0 ? [''] : asked) {
    const beneath = files.filter((file) => path === '' || file.path === path || file.path.startsWith(`${path}/`));
    if (
      beneath.length === 0 &&
      path !== '' &&
      lstatSync(join(session.rules.root, path), { throwIfNoEntry: false }) === undefined
    )
      return failed('no-such-path', `There is no "${path}", and nothing beneath it was deleted; see {sub: "status"}.`);
    for (const file of beneath) {
      if (inScope(file.path) && !file.path.endsWith('/') && isNameable(session, file)) paths.add(file.path);
      else if (file.path === path)
        return outOfScope('args', `"${path}" may not be staged from here.`, 'Leave it out; the operator can add it.');
      else skipped.add(file.path);
    }
  }
  if (paths.size === 0) return { result: notRun('nothing to add\n'), paths: [], skipped: [...skipped].sort() };
  const unresolved = await withMarkers(
    session,
    files.filter(({ path, unmerged }) => unmerged && paths.has(path)),
  );
  if (isStop(unresolved)) return unresolved;
  if (unresolved.paths.length > 0)
    return failed(
      'unresolved',
      `${unresolved.paths.join(', ')}: the two sides of a merge still stand against each other. Resolve them with edit first, then stage the files.`,
    );
  const stdin = [...paths].map((path) => `${path}\0`).join('');
  const filtered = await filteredPaths(session, stdin);
  if (isStop(filtered)) return filtered;
  if (filtered.paths.length > 0)
    return failed(
      'needs-filter',
      `${filtered.paths.join(', ')}: .gitattributes asks for a filter (such as git-lfs), and no filter runs here. Leave these files out; the operator can add them.`,
    );
  // Where `git add` matches each file against each name, this one only looks each name up.
  const update = ['update-index', '--verbose', '--add', '--remove', '--replace', '-z', '--stdin'];
  const result = await session.run(update, { access: COMMIT, stdin });
  return { result, paths: result.exit === 0 ? [...paths].sort() : [], skipped: [...skipped].sort() };
}

/** `git restore --staged`: takes files out of what is staged; the work tree stays as it is. */
export async function unstageGit(session: GitSession, parsed: ParsedGit): Promise<ToolReport | Stop> {
  const words = [...parsed.operands, ...parsed.paths];
  if (!parsed.options.some(({ option }) => option.long === 'staged'))
    return invalid(
      'args',
      'git restore without --staged would overwrite files.',
      'Write {sub: "restore", args: ["--staged", …]}; to change a file, use edit.',
    );
  if (words.length === 0)
    return invalid('args', 'git restore --staged needs paths.', 'Name files or folders; "." takes every staged file.');
  const paths: string[] = [];
  for (const word of words) {
    const read = readPath(session.rules, word);
    if (isStop(read)) return read;
    paths.push(read.path === '' ? '.' : read.path);
  }
  const stdin = paths.map((path) => `${path}\0`).join('');
  const head = await session.ask(['rev-parse', '--verify', '--quiet', 'HEAD']);
  if (isStop(head)) return head;
  // Before the first commit there is nothing to restore from: what is staged is taken out.
  const unstage =
    head.stdout === null ? ['rm', '--cached', '-r', '-f'] : ['restore', '--staged', '--no-recurse-submodules'];
  const argv = ['--literal-pathspecs', ...unstage, '--pathspec-from-file=-', '--pathspec-file-nul'];
  return gitReport('restore', await session.run(argv, { access: COMMIT, stdin }));
}

/** What some peripheral may change here, or, where none may, everything that is neither masked nor protected. */
function mayStage({ rules }: GitSession, { grant }: ToolCall): (path: string) => boolean {
  const scope = Object.values(grant.config.scopes)
    .flat()
    .map((path) => resolveSegments(split(path)) ?? []);
  return (path) => {
    if (rules.masked(path) || isProtected(path)) return false;
    return scope.length === 0 || scope.some((prefix) => startsWith(path.split('/'), prefix));
  };
}

/** A name that is not UTF-8 comes to us as another one. */
const isNameable = ({ rules }: GitSession, { path }: ChangedFile): boolean =>
  !path.includes('\ufffd') || lstatSync(join(rules.root, path), { throwIfNoEntry: false }) !== undefined;

/** Those in which git's own marks of a conflict are left. */
async function withMarkers(
  session: GitSession,
  unmerged: readonly ChangedFile[],
): Promise<{ readonly paths: readonly string[] } | Stop> {
  const paths: string[] = [];
  for (const { path } of unmerged) {
    const found = await session.ask(['diff', '--no-ext-diff', '--check', '--ours', '--', `:(top,literal)${path}`]);
    if (isStop(found)) return found;
    if (found.stderr.includes(LEFT_OVER) || found.printed.includes(LEFT_OVER)) paths.push(path);
  }
  return { paths };
}

const LEFT_OVER = 'leftover conflict marker';

async function filteredPaths(
  session: GitSession,
  stdin: string,
): Promise<{ readonly paths: readonly string[] } | Stop> {
  const answer = await session.ask(['check-attr', '-z', '--stdin', 'filter'], { stdin });
  if (isStop(answer)) return answer;
  const fields = (answer.stdout ?? '').split('\0');
  const paths: string[] = [];
  for (let i = 0; i + 2 < fields.length; i += 3)
    if (!['unspecified', 'unset'].includes(fields[i + 2]!)) paths.push(fields[i]!);
  return { paths };
}
