import { join } from 'node:path';
import { lstatIfAny } from '../../base/files.ts';
import type { ParsedGit } from '../../gate/commands/parse-git.ts';
import type { ToolReport } from '../../ports/tool-backend.ts';
import { makeShippableTest, parseFilteredPaths } from '../tree/git-tree.ts';
import { failedToolStop, invalidArgumentStop, isStop, outOfScopeStop, type ToolStop } from '../workspace/tool-stop.ts';
import { type ChangedFile, listChangedFiles } from './changed-files.ts';
import { makeGitReport, resultWithoutRun } from './git-report.ts';
import type { GitSession } from './git-session.ts';
import { findInnerRepository, innerRepositoryRemedy } from './inner-repository.ts';
import { listStagedFiles } from './list-staged-files.ts';
import { parsePathOperand } from './operands.ts';

const COMMIT = { kind: 'commit' } as const;
const NOT_OURS = 'Leave it out; the operator can commit it.';

interface StagingResult {
  readonly result: Awaited<ReturnType<GitSession['run']>>;
  readonly paths: readonly string[];
  /** Requested files that have changed and that this session may not stage. */
  readonly skipped: readonly string[];
  /** The blobs of staged versions that were replaced, by path. */
  readonly replaced: { readonly [path: string]: string };
}

/** Runs `git add`: stages exactly those changed files that the agent asked for and may change. */
export async function runGitAdd(session: GitSession, parsed: ParsedGit): Promise<ToolReport | ToolStop> {
  const chosen = new Set(parsed.options.map(({ option }) => option.long));
  const words = [...parsed.operands, ...parsed.paths];
  const staged = await stageFiles(session, words, chosen.has('update'));
  if (isStop(staged)) return staged;
  return makeGitReport('add', staged.result, {
    paths: [...staged.paths],
    skipped: [...staged.skipped],
    ...replacedStagedField(staged),
  });
}

/**
 * Stages the changed files at or under `words` (all of them if there are none). A file that is named itself must be
 * allowed; a file inside a named folder is skipped if it is not allowed.
 */
export async function stageFiles(
  session: GitSession,
  words: readonly string[],
  trackedOnly: boolean,
): Promise<StagingResult | ToolStop> {
  const requested: string[] = [];
  for (const word of words) {
    const read = parsePathOperand(session.rules, word);
    if (isStop(read)) return read;
    requested.push(read.path);
  }
  const listed = await listChangedFiles(session);
  if (isStop(listed)) return listed;
  const inScope = makeShippableTest(session.call.envelope);
  const isOwnChange = session.call.envelope.shipping?.isOwnChange ?? (() => true);
  const files = listed.files.filter(({ tracked }) => tracked || !trackedOnly);
  const paths = new Set<string>();
  const skipped = new Set<string>();
  for (const path of requested.length === 0 ? [''] : requested) {
    const beneath = files.filter((file) => path === '' || file.path === path || file.path.startsWith(`${path}/`));
    const inner = findInnerRepository(session.rules.root, path);
    if (beneath.length === 0 && inner !== null)
      return failedToolStop(
        'other-repository',
        `"${path}" is in ${inner}, a repository of its own. ${innerRepositoryRemedy(inner)}`,
      );
    if (beneath.length === 0 && path !== '' && lstatIfAny(join(session.rules.root, path)) === undefined)
      return failedToolStop(
        'no-such-path',
        `There is no "${path}" and no deleted file of this path; see {sub: "status"}.`,
      );
    for (const file of beneath) {
      const mayBe = inScope(file.path) && !file.path.endsWith('/') && isNameable(session, file);
      if (mayBe && isOwnChange(file.path)) paths.add(file.path);
      else if (mayBe && file.path === path)
        return outOfScopeStop(
          'args',
          `"${path}" was not changed by this session, so the session does not ship it.`,
          NOT_OURS,
        );
      else if (file.path === path)
        return outOfScopeStop('args', `"${path}" may not be committed here.`, 'Leave it out; the operator can add it.');
      else skipped.add(file.path);
    }
  }
  if (paths.size === 0)
    return { result: resultWithoutRun('nothing to add\n'), paths: [], skipped: [...skipped].sort(), replaced: {} };
  const unresolved = await withMarkers(
    session,
    files.filter(({ path, unmerged }) => unmerged && paths.has(path)),
  );
  if (isStop(unresolved)) return unresolved;
  if (unresolved.paths.length > 0)
    return failedToolStop(
      'unresolved',
      `${unresolved.paths.join(', ')}: the two sides of a merge are in conflict. Resolve them with edit first, then stage the files.`,
    );
  const replaced = Object.fromEntries(
    files.flatMap(({ path, staged }) => (staged !== null && paths.has(path) ? [[path, staged] as const] : [])),
  );
  const stdin = [...paths].map((path) => `${path}\0`).join('');
  const attributes = await session.ask(['check-attr', '-z', '--stdin', 'filter'], { stdin });
  if (isStop(attributes)) return attributes;
  const filtered = parseFilteredPaths(attributes.stdout ?? '');
  if (filtered.length > 0)
    return failedToolStop(
      'needs-filter',
      `${filtered.join(', ')}: .gitattributes asks for a filter (such as git-lfs), and no filter runs here. Leave these files out; the operator can add them.`,
    );
  // `git add` would compare each file with each name, which is slow; `update-index` only looks up each name.
  const update = ['update-index', '--verbose', '--add', '--remove', '--replace', '-z', '--stdin'];
  const result = await session.run(update, { access: COMMIT, stdin });
  const isStaged = result.exit === 0;
  return {
    result,
    paths: isStaged ? [...paths].sort() : [],
    skipped: [...skipped].sort(),
    replaced: isStaged ? replaced : {},
  };
}

export const replacedStagedField = ({ replaced }: StagingResult): { readonly replaced?: StagingResult['replaced'] } =>
  Object.keys(replaced).length === 0 ? {} : { replaced };

/** Runs `git restore --staged`: unstages files. Does not change the work tree. */
export async function unstageFiles(session: GitSession, parsed: ParsedGit): Promise<ToolReport | ToolStop> {
  const words = [...parsed.operands, ...parsed.paths];
  if (!parsed.options.some(({ option }) => option.long === 'staged'))
    return invalidArgumentStop(
      'args',
      'git restore without --staged would overwrite files.',
      'Write {sub: "restore", args: ["--staged", …]}; to change a file, use edit.',
    );
  if (words.length === 0)
    return invalidArgumentStop('args', 'git restore --staged needs paths.', 'Name paths; "." takes every staged file.');
  const staged = await listStagedFiles(session);
  if (isStop(staged)) return staged;
  const isOwnChange = session.call.envelope.shipping?.isOwnChange ?? (() => true);
  const paths = new Set<string>();
  const skipped = new Set<string>();
  for (const word of words) {
    const read = parsePathOperand(session.rules, word);
    if (isStop(read)) return read;
    const { path } = read;
    const beneath = staged.files.filter(
      (file) => path === '' || file.path === path || file.path.startsWith(`${path}/`),
    );
    if (beneath.length === 0)
      return failedToolStop('no-such-path', `Nothing is staged at "${word}"; see {sub: "status"}.`);
    if (beneath.some((file) => file.path === path && !isOwnChange(path)))
      return outOfScopeStop('args', `"${path}" was staged by someone else, and stays staged.`, NOT_OURS);
    for (const file of beneath) (isOwnChange(file.path) ? paths : skipped).add(file.path);
  }
  const more = { skipped: [...skipped].sort() };
  if (paths.size === 0) return makeGitReport('restore', resultWithoutRun('nothing of this session is staged\n'), more);
  const stdin = [...paths].map((path) => `${path}\0`).join('');
  const { head } = staged;
  // Before the first commit there is nothing to restore from, so the staged entries are removed.
  const unstage =
    head.sha === null ? ['rm', '--cached', '-r', '-f'] : ['restore', '--staged', '--no-recurse-submodules'];
  const argv = ['--literal-pathspecs', ...unstage, '--pathspec-from-file=-', '--pathspec-file-nul'];
  return makeGitReport('restore', await session.run(argv, { access: COMMIT, stdin }), more);
}

/** False for a file name that is not UTF-8: decoding it gives the name of another file. */
const isNameable = ({ rules }: GitSession, { path }: ChangedFile): boolean =>
  !path.includes('\ufffd') || lstatIfAny(join(rules.root, path)) !== undefined;

/** The files that still contain git's conflict markers. */
async function withMarkers(
  session: GitSession,
  unmerged: readonly ChangedFile[],
): Promise<{ readonly paths: readonly string[] } | ToolStop> {
  const paths: string[] = [];
  for (const { path } of unmerged) {
    const found = await session.ask(['diff', '--no-ext-diff', '--check', '--ours', '--', `:(top,literal)${path}`]);
    if (isStop(found)) return found;
    if (found.stderr.includes(LEFT_OVER) || found.printed.includes(LEFT_OVER)) paths.push(path);
  }
  return { paths };
}

const LEFT_OVER = 'leftover conflict marker';
