/** The working tree at one time. It is plain JSON, because evidence contains it. */
export interface TreeState {
  /** `id` is, for `git`, a git tree of all files not ignored; for `files` (no repository), a sha256 over all files. */
  readonly kind: 'git' | 'files';
  readonly id: string;
  /** The commit of HEAD; null if there is none. */
  readonly head: string | null;
  /**
   * The differences from the commit of HEAD: by path the blob (and the mode, unless the file is a plain file), null if
   * the file is gone. The whole list is null if it would be too long.
   */
  readonly changed: { readonly [path: string]: string | null } | null;
}

/** The contents of a commit of the session's own changes, and of a push after it. It is plain JSON. */
export interface ShippedContent {
  /** The git tree that the commit would have. */
  readonly id: string;
  /** The other parents of the commit, if it ends a merge. */
  readonly merges?: readonly string[];
  /** The branch that the commit would move, as a full ref; `HEAD` if HEAD is detached. */
  readonly onto: string;
  /** The files that the commit would change. */
  readonly files: readonly string[];
  /**
   * Versions of the committed files that somebody has staged and that are not shipped: by path the blob, null for a
   * staged deletion. The commit replaces them in the index.
   */
  readonly replaces: { readonly [path: string]: string | null };
  readonly subAgents?: SubAgentChanges;
  /** Other changed files, which are in the tested tree and do not ship; `moreLeft` counts those beyond the list. */
  readonly left: readonly string[];
  readonly moreLeft: number;
  /** The URL that a push goes to; null if none is configured or a push to it is not allowed. */
  readonly to: string | null;
  /** The last known commit of the remote's branch; null if no such commit is known. */
  readonly base: string | null;
  /** The earlier commits that a push also sends, the newest first; `more` counts those beyond the list. */
  readonly commits: readonly { readonly sha: string; readonly subject: string }[];
  readonly more: number;
  /** The local name of the branch of `base`; null if no allowed branch is checked out. Absent in older evidence. */
  readonly branch?: string | null;
  /** The branches, and patterns of branches, that a push may go to. */
  readonly branches?: readonly string[];
  /** The author of the commit, as `Name <address>`; null if git knows none. Absent in older evidence. */
  readonly author?: string | null;
  /** The committer in the same form, if it is another person than the author. */
  readonly committer?: string | null;
  /** The line about the agent that the commit message gets. */
  readonly trailer?: string | null;
}

/** The changes of the session's sub-agents: by path the sha256 (null for a deleted file), and the findings. */
export interface SubAgentChanges {
  readonly changes: { readonly [path: string]: string | null };
  readonly findings: { readonly [path: string]: string };
}

/**
 * The working tree that a hop depends on, and the part that ships. If nothing can be committed, `ships` is null, and
 * only then `subAgents` is set.
 */
export type ObservedTree = TreeToShip | { readonly problem: string };
export type TreeToShip = TreeState & { readonly ships: ShippedContent | null; readonly subAgents?: SubAgentChanges };

/** Returns how the current tree differs from the tested one, as a clause; null if it does not. */
export function describeTreeMismatch(tested: TreeState | null, now: ObservedTree): string | null {
  if ('problem' in now) return `the files cannot be compared with those that were tested: ${now.problem}`;
  if (tested === null) return 'the last run did not record which files it tested';
  if (tested.kind === now.kind && tested.id === now.id) return null;
  const paths = pathsChangedSince(tested, now);
  return paths === null
    ? 'files have changed since the last run'
    : `changed since the last run: ${printFirstPaths(paths)}`;
}

/** The paths in which two trees differ; null if the trees do not record enough to tell. */
export function pathsChangedSince(then: TreeState, now: TreeState): readonly string[] | null {
  if (!then.changed || !now.changed) return null;
  const [before, after] = [then.changed, now.changed];
  const differ = [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((path) => before[path] !== after[path])
    .sort();
  return differ.length === 0 ? null : differ;
}

/** The first paths as text, and the number of the others: `a.ts, b.ts and 3 more`. */
export const printFirstPaths = (paths: readonly string[], most = 5): string =>
  paths.length > most ? `${paths.slice(0, most).join(', ')} and ${paths.length - most} more` : paths.join(', ');
