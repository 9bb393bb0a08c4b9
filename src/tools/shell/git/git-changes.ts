import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { lstatIfAny } from '../../../base/files.ts';
import { hashStagedEntries } from '../../git-objects/git-index.ts';
import { isPathTooLong } from '../../sandbox/mounts/read-folder.ts';
import { gitFoldersBelow, type RepositoryFolders } from '../../sandbox/mounts/writable-git.ts';
import type { OverlayWrites } from '../../sandbox/sandbox.ts';
import { readWrittenFile } from '../read-written-file.ts';

export const GIT_CONFIG_CHANGED_PHRASE = 'the changed configuration of git';

/** The changes that a command made in the overlay of its git folders. All of them are discarded. */
export interface GitChanges {
  /** The reason for discarding the command's changes of files as well; null if they may be kept. */
  readonly spoils: string | null;
  /** Discarded changes that the agent would believe to exist: commits, branches, tags, settings. */
  readonly lost: readonly string[];
  /** True if the command staged or unstaged something. */
  readonly staged: boolean;
}

const MAX_REFS = 50_000;
/** Files that show an unfinished operation of git, and the operation's name. */
const OPERATIONS = {
  MERGE_HEAD: 'a merge',
  CHERRY_PICK_HEAD: 'a cherry-pick',
  'rebase-merge': 'a rebase',
  'rebase-apply': 'a rebase or an am',
  BISECT_LOG: 'a bisection',
} as const;
const STASH = 'refs/stash';

/**
 * Compares a repository with its state in the overlay after a command. Files are read as text; git does not run,
 * because the command may have written its configuration and hooks. The result only selects messages and protects the
 * agent's own work: the overlay's git folders never reach the repository.
 * @param top the folder that the overlay shows
 * @returns null if no message is needed
 */
export function findGitChanges(
  was: RepositoryFolders,
  top: string,
  { upper, merged }: Pick<OverlayWrites, 'upper' | 'merged'>,
): GitChanges | null {
  const written = Object.values(gitFoldersBelow(upper, top, was));
  const now = gitFoldersBelow(merged, top, was);
  const wrote = (path: string) => written.some((folder) => lstatIfAny(join(folder, path)) !== undefined);
  if (!written.some((folder) => lstatIfAny(folder)?.isDirectory())) return null;
  const refsMoved = wrote('refs') || wrote('packed-refs') || wrote('HEAD') || wrote('reftable');
  const [before, after] = refsMoved ? [readRefs(was), readRefs(now)] : [NO_REFS, NO_REFS];
  const spoils =
    newStash(before, after) ??
    unfinishedOperation(was, now) ??
    (wrote('reftable') ? 'it wrote to the table of refs' : movedHead(was, now, before, after));
  const isAmended = refsMoved && newLogLines(was, now).some((line) => line.includes('\tcommit (amend): '));
  const commits = isAmended ? 'the amended commit (only the operator rewrites commits)' : 'the commits';
  const lost = [
    ...changedRefs(before, after).map((ref) =>
      ref === before.head ? `${commits} on ${shortName(ref)}` : describeRef(ref, after.values.has(ref)),
    ),
    ...(before.head !== after.head ? [`the switch to ${shortName(after.head)}`] : []),
    ...(wrote('config') || wrote('config.worktree') ? [GIT_CONFIG_CHANGED_PHRASE] : []),
  ];
  const staged = wrote('index') && isStagedDifferently(was, now);
  return spoils === null && lost.length === 0 && !staged ? null : { spoils, lost, staged };
}

interface Refs {
  /** The ref that HEAD names, or the commit if HEAD is detached. */
  readonly head: string;
  readonly values: ReadonlyMap<string, string>;
}

const NO_REFS: Refs = { head: '', values: new Map() };

function readRefs({ gitDir, commonDir }: RepositoryFolders): Refs {
  const values = new Map<string, string>();
  for (const line of (readWrittenFile(commonDir, 'packed-refs') ?? '').split('\n')) {
    const [, value, ref] = /^([0-9a-f]+) (refs\/.+)$/.exec(line) ?? [];
    if (value !== undefined && ref !== undefined) values.set(ref, value);
  }
  const walk = (base: string, folder: string): void => {
    const path = join(base, folder);
    if (isPathTooLong(path) || !lstatIfAny(path)?.isDirectory()) return;
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      const ref = `${folder}/${entry.name}`;
      if (entry.isDirectory()) walk(base, ref);
      else if (entry.isFile() && values.size < MAX_REFS) values.set(ref, (readWrittenFile(base, ref) ?? '').trim());
    }
  };
  for (const base of new Set([commonDir, gitDir])) walk(base, 'refs');
  return { head: (readWrittenFile(gitDir, 'HEAD') ?? '').trim().replace(/^ref: /, ''), values };
}

const commitOf = ({ head, values }: Refs): string => values.get(head) ?? (head.startsWith('refs/') ? '' : head);

function newStash(before: Refs, after: Refs): string | null {
  const now = after.values.get(STASH);
  if (now === undefined || now === before.values.get(STASH)) return null;
  return 'it left changes in a stash, which no later command would find. Take them out in the same command line (git stash pop), or do without the stash';
}

/** The reason to discard changes: HEAD is at another commit. Null if the command only committed. */
function movedHead(was: RepositoryFolders, now: RepositoryFolders, before: Refs, after: Refs): string | null {
  if (commitOf(before) === commitOf(after)) return null;
  const steps = newLogLines(was, now);
  if (steps.length > 0 && steps.every(changesNoFile)) return null;
  const commit = commitOf(after).slice(0, 10) || 'no commit';
  const [from, to] = [before, after].map(({ head }) => shortName(head)) as [string, string];
  const how = from === to ? `${from} to ${commit}` : `HEAD from ${from} to ${to} (${commit})`;
  return `it moved ${how}, and that is not kept. ${INSTEAD}`;
}

/** The entries that a command added to HEAD's log; none if it rewrote the log. */
function newLogLines(...folders: readonly [RepositoryFolders, RepositoryFolders]): readonly string[] {
  const [earlier, log] = folders.map(({ gitDir }) => readWrittenFile(gitDir, 'logs/HEAD') ?? '') as [string, string];
  const added = log.startsWith(earlier) ? log.slice(earlier.length) : '';
  return added.split('\n').filter((line) => line !== '');
}

const INSTEAD =
  'Read another branch with git show or git diff; take files from it with git restore --source=BRANCH -- PATH; take over commits with git cherry-pick --no-commit, git revert --no-commit or git merge --squash. Commit and switch branches with bash-git where the scope ships; only the operator rebases, merges and rewrites commits';

/** True for an entry of HEAD's log that leaves the files as they are. */
function changesNoFile(line: string): boolean {
  const [from, to] = line.split(' ');
  return from === to || /\tcommit(?: \((?:initial|amend)\))?: /.test(line);
}

function unfinishedOperation(was: RepositoryFolders, now: RepositoryFolders): string | null {
  const has = ({ gitDir }: RepositoryFolders, name: string) => lstatIfAny(join(gitDir, name)) !== undefined;
  const left = Object.entries(OPERATIONS).find(([name]) => has(now, name) && !has(was, name))?.[1];
  return left === undefined ? null : `it left ${left} under way, which no later command could finish. ${INSTEAD}`;
}

const changedRefs = ({ values: before }: Refs, { values: after }: Refs): string[] =>
  [...new Set([...before.keys(), ...after.keys()])].filter((ref) => before.get(ref) !== after.get(ref)).sort();

const shortName = (ref: string): string =>
  /^[0-9a-f]{40,}$/.test(ref) ? ref.slice(0, 10) : ref.replace(/^refs\/(?:heads|tags|remotes)\//, '');

function describeRef(ref: string, isThere: boolean): string {
  const kind = ref.startsWith('refs/heads/') ? 'branch' : ref.startsWith('refs/tags/') ? 'tag' : 'ref';
  return `${isThere ? 'the' : 'the deletion of the'} ${kind} ${shortName(ref)}`;
}

function isStagedDifferently(...folders: readonly RepositoryFolders[]): boolean {
  const [before, after] = folders.map(({ gitDir }) => hashStagedEntries(join(gitDir, 'index')));
  return before === null || after === null || before !== after;
}
