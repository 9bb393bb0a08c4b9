import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readTextOrEmpty } from '../../base/files.ts';
import { branchPatterns, branchToShip } from '../../gate/scope/branch-patterns.ts';
import type { ShippedContent, TreeState } from '../../gate/scope/compare-trees.ts';
import { compileMasks, isWriteProtected } from '../../gate/scope/masks.ts';
import { writePathReason } from '../../gate/scope/write-paths.ts';
import type { CallEnvelope } from '../../ports/tool-backend.ts';
import { findPushTarget } from '../git/credentials/push-target.ts';
import { parseGitConfig } from '../git/git-config-keys.ts';
import { currentBranch, type GitRepository } from '../git/repository.ts';
import { makeSandboxedGit } from '../git-objects/list-objects.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { isStop } from '../workspace/tool-stop.ts';

/** A path at which the tree differs from the last commit, and its entry in both; null if it is missing there. */
export interface TreeChange {
  readonly path: string;
  readonly before: IndexEntry | null;
  readonly now: IndexEntry | null;
  /** True if .gitattributes requests a filter (such as git-lfs). */
  readonly filtered: boolean;
}
interface IndexEntry {
  readonly mode: string;
  readonly blob: string;
}

/** The tree, and the data from which its id was computed. */
interface GitTree {
  readonly id: string;
  readonly head: string | null;
  readonly changes: readonly TreeChange[];
}

export type TreeProblem = { readonly problem: string };

/** Maximum size of the listed changes in evidence, in bytes of JSON. */
const LISTED_BYTES = 16 << 10;
const COMMITS_LISTED = 50;
const LEFT_LISTED = 200;

const LACKS_HEAD =
  'the commit of HEAD is not in .git/objects; if it is borrowed (git clone --shared or --reference), run "git repack -ad" and delete .git/objects/info/alternates';

/**
 * Computes the tree's id with git, in a private copy of the index (with the original's time, because git uses it to
 * detect changed files) and a private folder of objects. Configured filter programs do not run. Files marked
 * assume-unchanged are read anyway; files outside a sparse checkout count as committed. A submodule counts by its
 * commit. Git cannot commit a file that is not in its `working-tree-encoding`, so such a file is a problem.
 */
const TREE = `set -e
w=$(mktemp -d)
trap 'rm -rf "$w"' EXIT
cat >"$w/more"
mkdir "$w/objects"
test ! -e "$GIT_DIR/index" || cp -p "$GIT_DIR/index" "$w/index"
export GIT_INDEX_FILE="$w/index" GIT_OBJECT_DIRECTORY="$w/objects"
n=0
"$@" config --name-only --get-regexp '^filter\\..*\\.(clean|smudge|process|required)$' >"$w/filters" || test $? -eq 1
while IFS= read -r key; do
  export "GIT_CONFIG_KEY_$n=$key" "GIT_CONFIG_VALUE_$n="
  n=$((n + 1))
done <"$w/filters"
export GIT_CONFIG_COUNT=$n
if "$@" ls-files -v | LC_ALL=C grep -q '^[a-zS] '; then
  "$@" ls-files -v -z | LC_ALL=C sed -nz 's/^[a-z] //p' | "$@" update-index --no-assume-unchanged -z --stdin
  "$@" ls-files -v -z | LC_ALL=C sed -nz 's/^[sS] //p' |
    xargs -0 sh -c 'for f; do if test -e "$f" || test -L "$f"; then printf "%s\\0" "$f"; fi; done' sh |
    "$@" update-index --no-skip-worktree -z --stdin
fi
"$@" ls-files -z --modified --deleted --others --exclude-standard |
  tr '\\0\\n' '\\n\\0' | LC_ALL=C sed '/\\/$/d' | tr '\\0\\n' '\\n\\0' >"$w/paths"
"$@" update-index --info-only --add --remove --replace -z --stdin <"$w/paths" 2>"$w/said" || { cat "$w/said" >&2; exit 1; }
if LC_ALL=C sed -n 's/^error: \\(failed to encode\\|BOM is\\)/\\1/p' "$w/said" | grep -m 1 . >"$w/odd"; then
  echo "$(cat "$w/odd"); correct the file, or its working-tree-encoding in .gitattributes" >&2
  exit 1
fi
test ! -s "$w/more" || "$@" update-index -z --index-info <"$w/more"
if "$@" rev-parse 'HEAD^{commit}' 'HEAD^{tree}' >"$w/names" 2>"$w/said"; then
  { read -r head; read -r base; } <"$w/names"
elif "$@" rev-parse --verify --quiet HEAD >"$w/said"; then
  echo '${LACKS_HEAD}' >&2
  exit 1
else
  head=
  base=$("$@" hash-object -t tree --stdin </dev/null)
fi
tree=$("$@" write-tree --missing-ok)
printf '%s\\n%s\\n' "$head" "$tree"
test "$base" != "$tree" || exit 0
"$@" diff-tree -r --raw -z --no-renames "$base" "$tree"
printf '\\0'
"$@" diff-tree -r --name-only -z --no-renames "$base" "$tree" | "$@" check-attr -z --stdin filter`;

/**
 * Prints the id of the tree that a commit of some changes on top of `$head` would have, the branch of HEAD, the tip of
 * the remote's branch, the number of the other commits that a push would send, and three lists: these commits, the
 * staged entries, the configuration. An empty field ends each list. The listed commits are those that the remote's
 * branch lacks, or for a new branch, that all branches of the remote lack.
 */
const SHIPS = `set -e
w=$(mktemp -d)
trap 'rm -rf "$w"' EXIT
mkdir "$w/objects"
"$@" diff-index --cached --raw -z --no-renames \${head:-$("$@" hash-object -t tree --stdin </dev/null)} -- >"$w/staged"
export GIT_INDEX_FILE="$w/index" GIT_OBJECT_DIRECTORY="$w/objects"
if test -n "$merging"; then cp -p "$GIT_DIR/index" "$w/index"
else "$@" read-tree \${head:---empty}; fi
"$@" update-index -z --index-info
test -z "$merging" || "$@" -c core.quotePath=false ls-files --unmerged >"$w/unmerged"
if test -s "$w/unmerged"; then
  echo "the merge that is under way has conflicts in $(cut -f2 "$w/unmerged" | uniq | head -n 3 | paste -sd, -); resolve them with edit, or ask the operator to finish or abort the merge" >&2
  exit 1
fi
"$@" write-tree --missing-ok
"$@" symbolic-ref --quiet HEAD || echo HEAD
at=$("$@" rev-parse --verify --quiet "$tracked^{commit}" || true)
echo "$at"
if test -n "$head" && test -n "$remote"; then
  new=
  test -n "$at" || new=1
  count=$("$@" rev-list --count $head $merges \${at:+^$at} \${new:+--not "--remotes=$remote"})
  echo $count
  test $count -eq 0 || "$@" log -z --max-count=${COMMITS_LISTED} --format='%H %s' $head $merges \${at:+^$at} \${new:+--not "--remotes=$remote"}
else echo 0; fi
printf '\\0'
cat "$w/staged"
printf '\\0'
"$@" config --list -z --show-scope --includes
printf '\\0'`;

/** True while git is in an operation of the operator, such as a merge; the next commit is part of it. */
export const hasGitOperationUnderWay = ({ gitDir }: GitRepository): boolean =>
  ['MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD'].some((name) => existsSync(join(gitDir, name)));

export const readMergedCommits = ({ gitDir }: GitRepository): readonly string[] =>
  readTextOrEmpty(join(gitDir, 'MERGE_HEAD')).match(/^[0-9a-f]{40,64}$/gm) ?? [];

type GitRunner = ReturnType<typeof gitRunner>;

/** Returns a function that runs one of the scripts above, in the sandbox unless the operator allowed otherwise. */
export function gitRunner(
  run: Sandbox['run'],
  { root, config }: Pick<CallEnvelope, 'root' | 'config'>,
  repository: GitRepository,
  signal: AbortSignal,
) {
  const git = makeSandboxedGit({ run }, root, config.toolchains, repository, signal);
  const objects = join(repository.commonDir, 'objects').replace(/["\\]/g, '\\$&');
  return async (
    script: string,
    stdin: string,
    env: { readonly [name: string]: string } = {},
  ): Promise<{ readonly text: string } | TreeProblem> => {
    const ran = await git(script, { stdin, env: { ...env, GIT_ALTERNATE_OBJECT_DIRECTORIES: `"${objects}"` } });
    if (ran.exit === 0 && !ran.truncated) return { text: ran.stdout };
    const errorLine = ran.stderr.trim().split('\n').at(-1) || 'git failed';
    return { problem: ran.timedOut ? 'git took too long' : ran.truncated ? 'too much of it was changed' : errorLine };
  };
}

/**
 * The current tree. Masked files count as committed: no test sees them, and they are never shipped.
 * @param committed changes that are taken back, so that their files are as in the last commit
 */
export async function computeGitTree(
  git: GitRunner,
  { config }: Pick<CallEnvelope, 'config'>,
  committed: readonly TreeChange[] = [],
): Promise<GitTree | TreeProblem> {
  const ran = await git(TREE, committed.map(({ path, before }) => indexInfoLine(path, before)).join(''));
  if ('problem' in ran) return ran;
  const [head = '', id = ''] = ran.text.split('\n', 2);
  const changes = parseTreeChanges(ran.text.slice(head.length + id.length + 2));
  const masked = compileMasks(config.mask);
  const hidden = changes.filter(({ path }) => masked(path));
  if (hidden.length > 0 && committed.length === 0) return computeGitTree(git, { config }, hidden);
  return { id, head: head || null, changes };
}

/** True for the path of a session's own change that may ship. */
export type IsOwnChange = (path: string) => boolean;

/**
 * Describes the content that would ship if the session's own changes were committed and pushed.
 * @param apart the session's changes in repositories inside the root, of which git here sees nothing
 */
export async function describeContentToShip(
  git: GitRunner,
  { config }: Pick<CallEnvelope, 'config'>,
  repository: GitRepository,
  tree: GitTree,
  isOwnChange: IsOwnChange,
  apart: readonly string[],
): Promise<ShippedContent | TreeProblem> {
  const mine = tree.changes.filter((change) => !change.filtered && isOwnChange(change.path));
  const isUnderWay = hasGitOperationUnderWay(repository);
  const merges = readMergedCommits(repository);
  const shipping = config.git;
  const branch = shipping && branchToShip(currentBranch(repository), shipping);
  const ran = await git(SHIPS, mine.map(({ path, now }) => indexInfoLine(path, now)).join(''), {
    head: tree.head ?? '',
    merging: isUnderWay ? '1' : '',
    merges: merges.join(' '),
    remote: shipping?.remote ?? '',
    tracked: branch ? `refs/remotes/${shipping.remote}/${branch}` : '',
  });
  if ('problem' in ran) return ran;
  const [id = '', onto = '', base = '', count = '0', ...rest] = ran.text.split('\n');
  const [listed = [], staged = [], settings = []] = listsIn(rest.join('\n'));
  const commits = listed.map((line) => ({
    sha: line.slice(0, line.indexOf(' ')),
    subject: line.slice(line.indexOf(' ') + 1),
  }));
  const target = config.git && findPushTarget(repository, config.git, parseGitConfig(`${settings.join('\0')}\0`));
  const stagedFiles = parseTreeChanges(`${staged.join('\0')}\0\0`);
  // The end of an operation commits all that is staged.
  const shipped = new Map([...(isUnderWay ? stagedFiles : []), ...mine].map(({ path, now }) => [path, now?.blob]));
  const files = [...shipped.keys()];
  const isLeft = ({ path, now }: TreeChange) => !shipped.has(path) || shipped.get(path) !== now?.blob;
  const left = [...tree.changes.filter(isLeft).map(({ path }) => path), ...apart];
  return {
    id,
    ...(merges.length === 0 ? {} : { merges }),
    onto,
    files,
    replaces: isUnderWay ? {} : replacedBy(mine, stagedFiles),
    left: left.slice(0, LEFT_LISTED),
    moreLeft: Math.max(0, left.length - LEFT_LISTED),
    to: target && !isStop(target) ? target.url : null,
    base: base || null,
    commits,
    more: Number(count) - commits.length,
    branch,
    branches: shipping === null ? [] : branchPatterns(shipping),
  };
}

/** Splits git's NUL-separated output into lists of fields; an empty field ends each list. */
function listsIn(text: string): string[][] {
  const lists: string[][] = [[]];
  for (const field of text.split('\0')) field === '' ? lists.push([]) : lists.at(-1)!.push(field);
  return lists;
}

/** The blobs of staged versions that differ from the versions to be shipped, by path; null for a staged deletion. */
function replacedBy(mine: readonly TreeChange[], staged: readonly TreeChange[]): ShippedContent['replaces'] {
  const chosen = new Map(mine.map(({ path, now }) => [path, now?.blob]));
  const others = staged.filter(({ path, now }) => chosen.has(path) && chosen.get(path) !== now?.blob);
  return Object.fromEntries(others.map(({ path, now }) => [path, now?.blob ?? null]));
}

/**
 * Returns a test of paths: true if some peripheral may change the path, or if no peripheral may change any path. Masked
 * and protected paths never ship.
 */
export function makeShippableTest({ config }: Pick<CallEnvelope, 'config'>): IsOwnChange {
  const masked = compileMasks(config.mask);
  const scopes = Object.values(config.scopes).filter((write) => write.length > 0);
  return (path) => {
    if (masked(path) || isWriteProtected(path)) return false;
    return scopes.length === 0 || scopes.some((write) => writePathReason(path, write) === null);
  };
}

export function treeStateOf({ id, head, changes }: GitTree): TreeState {
  const changed = Object.fromEntries(
    changes.map(({ path, now }) => [path, now && (now.mode === '100644' ? now.blob : `${now.mode} ${now.blob}`)]),
  );
  return { kind: 'git', id, head, changed: JSON.stringify(changed).length > LISTED_BYTES ? null : changed };
}

/** A line for `update-index --index-info` that replaces the entry of a path; null removes it. */
export function indexInfoLine(path: string, entry: IndexEntry | null): string {
  const gone = `0 ${'0'.repeat(entry?.blob.length ?? 40)}\t${path}\0`;
  return entry === null ? gone : `${gone}${entry.mode} ${entry.blob}\t${path}\0`;
}

/** Parses the output of `diff-tree --raw -z` and, after an empty field, of `check-attr -z`. */
export function parseTreeChanges(text: string): TreeChange[] {
  const end = text.startsWith('\0') ? 0 : text.indexOf('\0\0') + 1;
  const raw = text.slice(0, end).split('\0');
  const filtered = new Set(parseFilteredPaths(text.slice(end + 1)));
  const changes: TreeChange[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [was = '', is = '', before = '', now = ''] = raw[at]!.slice(1).split(' ');
    const path = raw[at + 1]!;
    changes.push({ path, before: entryOf(was, before), now: entryOf(is, now), filtered: filtered.has(path) });
  }
  return changes;
}

/** The paths for which the output of `check-attr -z filter` names a filter. */
export function parseFilteredPaths(text: string): string[] {
  const fields = text.split('\0');
  return fields.filter((_, at) => at % 3 === 0 && !['unspecified', 'unset', undefined].includes(fields[at + 2]));
}

const entryOf = (mode: string, blob: string): IndexEntry | null => (mode === '000000' ? null : { mode, blob });
