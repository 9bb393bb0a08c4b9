import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { stagedEntries } from '../../git-objects/git-index.ts';
import { isTooDeep } from '../../sandbox/mounts/read-folder.ts';
import type { OverlayView } from '../../sandbox/sandbox.ts';
import { readWritten } from '../written-file.ts';

/** The effect of a command on the overlay of `.git`, all of which is discarded. */
export interface GitChanges {
  /** The reason why the command's changes of files must be discarded too; null if they may be kept. */
  readonly spoils: string | null;
  /** Changes that look like a success to the command: commits, branches, tags, settings. */
  readonly lost: readonly string[];
  /** The command staged or unstaged something. */
  readonly staged: boolean;
}

/** Maximum number of refs that are compared. */
const MOST_REFS = 50_000;
/** Files of an operation of git that has not ended. */
const UNDER_WAY = {
  MERGE_HEAD: 'a merge',
  CHERRY_PICK_HEAD: 'a cherry-pick',
  'rebase-merge': 'a rebase',
  'rebase-apply': 'a rebase or an am',
  BISECT_LOG: 'a bisection',
} as const;
const STASH = 'refs/stash';

/**
 * Compares the `.git` of the root with the one that a command left in the overlay. Files are read as text; git does not
 * run, because the command may have written its configuration and hooks. The result selects words and protects the
 * agent's own work: nothing of the overlay's `.git` reaches the repository in any case.
 *
 * @returns null if the command changed nothing that matters
 */
export function gitChanges(root: string, { upper, merged }: OverlayView): GitChanges | null {
  const wrote = (path: string) => lstatSync(join(upper, '.git', path), { throwIfNoEntry: false }) !== undefined;
  if (!lstatSync(join(upper, '.git'), { throwIfNoEntry: false })?.isDirectory()) return null;
  const refsMoved = wrote('refs') || wrote('packed-refs') || wrote('HEAD') || wrote('reftable');
  const [before, after] = refsMoved ? [readRefs(root), readRefs(merged)] : [NO_REFS, NO_REFS];
  const spoils =
    stashLeft(before, after) ??
    operationLeft(root, merged) ??
    (wrote('reftable') ? 'it wrote to the table of refs' : headMoved(root, merged, before, after));
  const lost = [
    ...changedRefs(before, after).map((ref) =>
      ref === before.head ? `the commits on ${shortName(ref)}` : kindOf(ref, after.values.has(ref)),
    ),
    ...(before.head !== after.head ? [`the switch to ${shortName(after.head)}`] : []),
    ...(wrote('config') ? ['the changed configuration (.git/config)'] : []),
  ];
  const staged = wrote('index') && isStagedDifferently(root, merged);
  return spoils === null && lost.length === 0 && !staged ? null : { spoils, lost, staged };
}

interface Refs {
  /** The ref that HEAD names, or the commit if HEAD is detached. */
  readonly head: string;
  readonly values: ReadonlyMap<string, string>;
}

const NO_REFS: Refs = { head: '', values: new Map() };

function readRefs(base: string): Refs {
  const values = new Map<string, string>();
  for (const line of (readWritten(base, '.git/packed-refs') ?? '').split('\n')) {
    const [, value, ref] = /^([0-9a-f]+) (refs\/.+)$/.exec(line) ?? [];
    if (value !== undefined && ref !== undefined) values.set(ref, value);
  }
  const walk = (folder: string): void => {
    const path = join(base, '.git', folder);
    if (isTooDeep(path) || !lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      const ref = `${folder}/${entry.name}`;
      if (entry.isDirectory()) walk(ref);
      else if (entry.isFile() && values.size < MOST_REFS)
        values.set(ref, (readWritten(base, `.git/${ref}`) ?? '').trim());
    }
  };
  walk('refs');
  return { head: (readWritten(base, '.git/HEAD') ?? '').trim().replace(/^ref: /, ''), values };
}

const commitOf = ({ head, values }: Refs): string => values.get(head) ?? (head.startsWith('refs/') ? '' : head);

function stashLeft(before: Refs, after: Refs): string | null {
  const now = after.values.get(STASH);
  if (now === undefined || now === before.values.get(STASH)) return null;
  return 'it left changes in a stash, which no later command would find. Take them out in the same command line (git stash pop), or do without the stash';
}

/** The words if HEAD is at another commit now, unless the command only committed, which changes no file. */
function headMoved(root: string, merged: string, before: Refs, after: Refs): string | null {
  if (commitOf(before) === commitOf(after)) return null;
  const [log, earlier] = [merged, root].map((base) => readWritten(base, '.git/logs/HEAD') ?? '') as [string, string];
  const steps = log.startsWith(earlier)
    ? log
        .slice(earlier.length)
        .split('\n')
        .filter((line) => line !== '')
    : [];
  if (steps.length > 0 && steps.every(changesNoFile)) return null;
  const commit = commitOf(after).slice(0, 10) || 'no commit';
  const [from, to] = [before, after].map(({ head }) => shortName(head)) as [string, string];
  const how = from === to ? `${from} to ${commit}` : `HEAD from ${from} to ${to} (${commit})`;
  return `it moved ${how}, and that is not kept. ${INSTEAD}`;
}

const INSTEAD =
  'Read another branch with git show or git diff; take files from it with git restore --source=BRANCH -- PATH; take over commits with git cherry-pick --no-commit, git revert --no-commit or git merge --squash. Commit and switch branches with bash-git where the scope ships; only the operator rebases, merges and rewrites commits';

/** True for an entry of HEAD's log that leaves the files as they are. */
function changesNoFile(line: string): boolean {
  const [from, to] = line.split(' ');
  return from === to || /\tcommit(?: \((?:initial|amend)\))?: /.test(line);
}

function operationLeft(root: string, merged: string): string | null {
  const has = (base: string, name: string) =>
    lstatSync(join(base, '.git', name), { throwIfNoEntry: false }) !== undefined;
  const left = Object.entries(UNDER_WAY).find(([name]) => has(merged, name) && !has(root, name))?.[1];
  return left === undefined ? null : `it left ${left} under way, which no later command could finish. ${INSTEAD}`;
}

const changedRefs = ({ values: before }: Refs, { values: after }: Refs): string[] =>
  [...new Set([...before.keys(), ...after.keys()])].filter((ref) => before.get(ref) !== after.get(ref)).sort();

const shortName = (ref: string): string =>
  /^[0-9a-f]{40,}$/.test(ref) ? ref.slice(0, 10) : ref.replace(/^refs\/(?:heads|tags|remotes)\//, '');

function kindOf(ref: string, isThere: boolean): string {
  const kind = ref.startsWith('refs/heads/') ? 'branch' : ref.startsWith('refs/tags/') ? 'tag' : 'ref';
  return `${isThere ? 'the' : 'the deletion of the'} ${kind} ${shortName(ref)}`;
}

function isStagedDifferently(root: string, merged: string): boolean {
  const [before, after] = [root, merged].map((base) => stagedEntries(join(base, '.git/index')));
  return before === null || after === null || before !== after;
}
