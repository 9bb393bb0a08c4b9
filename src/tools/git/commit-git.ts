import { readCommitMessage } from '../../gate/commands/git-command.ts';
import { type ParsedGit, toGitOptionWords } from '../../gate/commands/parse-git.ts';
import { mayShipBranch } from '../../gate/scope/branch-patterns.ts';
import { printFirstPaths, type TreeToShip } from '../../gate/scope/compare-trees.ts';
import type { ToolCall, ToolReport } from '../../ports/tool-backend.ts';
import { hasGitOperationUnderWay, indexInfoLine, readMergedCommits, type TreeChange } from '../tree/git-tree.ts';
import { failedToolStop, isStop, type ToolStop } from '../workspace/tool-stop.ts';
import { appendCommitTrailer, commitTrailerFor } from './commit-trailer.ts';
import { type CommitPersons, formatPerson, gitPersonVariables, personsOfCommit, readPerson } from './git-persons.ts';
import { APPROVE_AGAIN_REMEDY, effectsOfMovedRef, makeGitReport, resultWithoutRun } from './git-report.ts';
import type { GitSession } from './git-session.ts';
import { listCommittedPaths, listStagedFiles } from './list-staged-files.ts';
import { replacedStagedField, stageFiles } from './stage-files.ts';

const COMMIT = { kind: 'commit' } as const;

/** Prints the tree that the index would have after the entries on stdin are replaced. */
const TREE_OF_STAGED = `set -e
w=$(mktemp -d)
trap 'rm -rf "$w"' EXIT
test ! -e "$GIT_DIR/index" || cp -p "$GIT_DIR/index" "$w/index"
export GIT_INDEX_FILE="$w/index"
"$@" update-index -z --index-info
"$@" write-tree`;

/**
 * Commits a tree with the message on stdin; fails if HEAD has moved. No index is changed. The reflog and the output get
 * a shortened subject, because the system limits the length of arguments.
 */
const COMMIT_TREE = `set -e
w=$(mktemp -d)
trap 'rm -rf "$w"' EXIT
"$@" stripspace >"$w/message"
subject=$(head -n 1 "$w/message" | cut -b -4000)
test -n "$subject" || { echo 'Aborting commit due to empty commit message.' >&2; exit 1; }
sha=$("$@" commit-tree "$tree" \${head:+-p $head} -F "$w/message")
"$@" update-ref -m "commit\${initial}: $subject" HEAD $sha "\${head:-$(echo $tree | tr 0-9a-f 0)}"
echo "[\${branch}\${initial} $("$@" rev-parse --short $sha)] $subject"
"$@" diff-tree --shortstat --no-commit-id --root $sha`;

/**
 * Runs `git commit`: commits the files that this session staged; files staged by others remain staged. `--all` first
 * stages the changed tracked files that the agent may change. If an approval names the tree, the tree and the message
 * of the commit must be the approved ones; if nothing is staged, the commit first stages the approved files.
 */
export async function runGitCommit(
  session: GitSession,
  parsed: ParsedGit,
  operator: NodeJS.ProcessEnv,
): Promise<ToolReport | ToolStop> {
  const {
    isOwnChange = () => true,
    tree: approved = null,
    message: approvedMessage = null,
  } = session.call.envelope.shipping ?? {};
  const named = (long: string) => parsed.options.filter(({ option }) => option.long === long);
  const stated = approvedMessage ?? readCommitMessage(parsed) ?? '';
  const persons = chooseCommitters(session, operator);
  if (persons === null) return failedToolStop('no-author', NO_AUTHOR);
  const message = appendCommitTrailer(stated, trailerOf(session.call));
  const all = named('all').length > 0;
  const alreadyStaged = await listStagedFiles(session);
  if (isStop(alreadyStaged)) return alreadyStaged;
  const isUnderWay = hasGitOperationUnderWay(session.repository);
  // Approved files need no separate `git add`: the tree of the commit is compared with the approved tree.
  const stages =
    all || (approved !== null && !isUnderWay && !alreadyStaged.files.some(({ path }) => isOwnChange(path)));
  const staged = stages ? await stageFiles(session, [], all) : null;
  if (staged !== null && isStop(staged)) return staged;
  const skipped = { skipped: [...(staged?.skipped ?? [])], ...(staged ? replacedStagedField(staged) : {}) };
  const nothing = { committed: false, sha: null, ref: null, paths: [], ...skipped };
  if (staged !== null && staged.result.exit !== 0) return makeGitReport('commit', staged.result, nothing);

  const index = staged === null ? alreadyStaged : await listStagedFiles(session);
  if (isStop(index)) return index;
  const before = index.head;
  const [mine, others] = partition(index.files, ({ path }) => isUnderWay || isOwnChange(path));
  const othersEntries = others.map((file) => indexInfoLine(file.path, file.before)).join('');
  const made = await session.run([], { access: COMMIT, script: TREE_OF_STAGED, stdin: othersEntries });
  if (made.exit !== 0) return makeGitReport('commit', made, nothing);
  const tree = made.stdout.trim();
  const differs =
    approved && explainMismatch(approved, { ...before, tree, mine, merges: readMergedCommits(session.repository) });
  if (differs) return failedToolStop('not-what-was-approved', differs);
  if (mine.length === 0 && !isUnderWay) {
    const also =
      others.length > 0 ? ` (${printFirstPaths(others.map(({ path }) => path))} was staged by someone else)` : '';
    return makeGitReport(
      'commit',
      resultWithoutRun(`nothing to commit: this session has staged nothing${also}\n`, 1),
      nothing,
    );
  }

  const initial = before.sha === null ? ' (root-commit)' : '';
  const env = {
    ...gitPersonVariables(persons),
    tree,
    head: before.sha ?? '',
    initial,
    branch: before.ref.replace('refs/heads/', ''),
  };
  // Git's own commit ends an operation such as a merge. Without `--author`, it would keep the author of a picked
  // commit.
  const author = `--author=${formatPerson(persons.author)}`;
  const quiet = toGitOptionWords(named('quiet'));
  const words = ['commit', '--no-verify', '--no-gpg-sign', '--no-status', ...quiet, author, '--file=-'];
  const result = isUnderWay
    ? await session.run(words, { access: COMMIT, env, stdin: message })
    : await session.run([], { access: COMMIT, env, stdin: message, script: COMMIT_TREE });
  const now = await listCommittedPaths(session, before.sha);
  // Git may have made the commit, but hopgate could not observe it.
  if (isStop(now)) return { outcome: now.stop, effects: 'unobserved' };
  const { head: after, paths } = now;
  const committed = after.sha !== null && after.sha !== before.sha;
  const more = { committed, sha: committed ? after.sha : null, ref: after.ref, paths: [...paths], ...skipped };
  return makeGitReport(
    'commit',
    result,
    { ...more, ...(committed ? { tree } : {}) },
    effectsOfMovedRef(after.ref, before.sha, after.sha),
  );
}

/** Explains how a commit would differ from the approved one; null if it would not. */
function explainMismatch(
  { head, changed, ships }: TreeToShip,
  now: {
    readonly sha: string | null;
    readonly merges: readonly string[];
    readonly ref: string;
    readonly tree: string;
    readonly mine: readonly TreeChange[];
  },
): string | null {
  if (ships === null) return `There was no repository when this was approved. ${APPROVE_AGAIN_REMEDY}`;
  if (now.sha !== head)
    return `The branch has moved since this was approved, from ${head ?? 'nothing'} to ${now.sha ?? 'nothing'}. ${APPROVE_AGAIN_REMEDY}`;
  if (now.merges.join() !== (ships.merges ?? []).join())
    return `The commit would merge ${printFirstPaths(now.merges) || 'nothing'} now, but was approved to merge ${printFirstPaths(ships.merges ?? []) || 'nothing'}. ${APPROVE_AGAIN_REMEDY}`;
  if (now.ref !== ships.onto && !isListed(now.ref, ships.branches ?? []))
    return `HEAD names ${refName(now.ref)} now, but the commit was approved for ${refName(ships.onto)}. ${APPROVE_AGAIN_REMEDY}`;
  if (now.tree === ships.id) return null;
  const staged = new Map(now.mine.map((file) => [file.path, file]));
  const missing = ships.files.filter((path) => !staged.has(path));
  if (missing.length > 0)
    return `Approved but not staged: ${printFirstPaths(missing)}. Stage all that was approved first: {sub: "add", args: ["-A"]}. A file that it leaves out is marked assume-unchanged or skip-worktree: ask the operator to unmark it with git update-index.`;
  const others = [...staged.keys()].filter((path) => !ships.files.includes(path));
  if (others.length > 0)
    return `Staged but not approved: ${printFirstPaths(others)}. Unstage it: {sub: "restore", args: ["--staged", …]}.`;
  const differ = [...staged.values()].filter(
    ({ path, now }) => changed && !(changed[path] ?? '-').endsWith(now?.blob ?? '-'),
  );
  const what = differ.length > 0 ? printFirstPaths(differ.map(({ path }) => path)) : 'A file';
  return `${what} is not staged as it was tested and approved. Stage it again: {sub: "add", args: ["-A"]}. If that does not help, it has changed since. ${APPROVE_AGAIN_REMEDY}`;
}

function partition<T>(all: readonly T[], isFirst: (one: T) => boolean): [T[], T[]] {
  return [all.filter(isFirst), all.filter((one) => !isFirst(one))];
}

const NO_AUTHOR =
  'Git knows no name and address for commits here. Ask the operator to run `git config --global user.name "NAME"` and `git config --global user.email ADDRESS`, or to set git.author in hopgate.yaml.';

/** The author and the committer: the approved persons, else the persons of the configuration or of git. */
function chooseCommitters({ repository, call }: GitSession, operator: NodeJS.ProcessEnv): CommitPersons | null {
  const { config, shipping } = call.envelope;
  const { author, committer } = shipping?.tree?.ships ?? {};
  const approved = readPerson(author ?? '');
  if (approved === null) return personsOfCommit(config.commits, repository, operator);
  return { author: approved, committer: readPerson(committer ?? '') ?? approved };
}

function trailerOf({ envelope: { config, shipping } }: ToolCall): string | null {
  const approved = shipping?.tree?.ships?.trailer;
  return approved === undefined ? commitTrailerFor(config.commits, shipping?.agent ?? '') : approved;
}

/** True if a full ref is one of the branches that the approval listed. */
function isListed(ref: string, branches: readonly string[]): boolean {
  const [, name] = /^refs\/heads\/(.+)$/s.exec(ref) ?? [];
  return name !== undefined && mayShipBranch(name, { branch: branches });
}

const refName = (ref: string): string => (ref === 'HEAD' ? 'no branch' : ref);
