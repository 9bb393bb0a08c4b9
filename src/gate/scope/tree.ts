/** The working tree at one moment. Plain JSON: evidence keeps it. */
export interface TreeSeen {
  /** `git`: a git tree, of all files that are tracked or not ignored. `files`: a sha256 over all files, where there is no repository. */
  readonly kind: 'git' | 'files';
  readonly id: string;
  /** The commit that HEAD stands at; null: there is none. */
  readonly head: string | null;
  /** What differs from that commit: by path the blob (and the mode, unless it is that of a plain file), null where it is gone. null: too much. */
  readonly changed: { readonly [path: string]: string | null } | null;
}

/** What a commit of a session's own changes, and a push after it, would ship. Plain JSON. */
export interface ShipsSeen {
  /** The git tree that the commit would have. */
  readonly id: string;
  /** The files that it would change. */
  readonly files: readonly string[];
  /** Other files that were changed, and are in the tree that was tested, but not shipped; those beyond the list are counted. */
  readonly left: readonly string[];
  readonly moreLeft: number;
  /** What the remote's branch was last seen to have; null: nothing. */
  readonly base: string | null;
  /** The commits that a push sends besides, the newest first; those beyond the list are counted. */
  readonly commits: readonly { readonly sha: string; readonly subject: string }[];
  readonly more: number;
}

/** The tree as it is when a hop is decided that depends on it, and what would be shipped of it; null where nothing can be committed. */
export type TreeNow = TreeToShip | { readonly problem: string };
export type TreeToShip = TreeSeen & { readonly ships: ShipsSeen | null };

/** Why what was tested is not what is there now; null: it is. */
export function treeMismatch(tested: TreeSeen | null, now: TreeNow): string | null {
  if ('problem' in now) return `the files cannot be compared with those that were tested: ${now.problem}`;
  if (tested === null) return 'the last run did not say on which files it ran';
  if (tested.kind === now.kind && tested.id === now.id) return null;
  const paths = changedSince(tested, now);
  return paths === null ? 'files have changed since the last run' : `changed since the last run: ${namesOf(paths)}`;
}

/** The paths in which two trees differ, as far as what is known of them tells; null: it does not. */
export function changedSince(then: TreeSeen, now: TreeSeen): readonly string[] | null {
  if (!then.changed || !now.changed) return null;
  const [before, after] = [then.changed, now.changed];
  const differ = [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((path) => before[path] !== after[path])
    .sort();
  return differ.length === 0 ? null : differ;
}

/** Some paths in a sentence. */
export const namesOf = (paths: readonly string[], most = 5): string =>
  paths.length > most ? `${paths.slice(0, most).join(', ')} and ${paths.length - most} more` : paths.join(', ');
