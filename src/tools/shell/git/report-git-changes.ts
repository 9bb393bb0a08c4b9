import { relative } from 'node:path';
import { fieldsOf } from '../../../base/json.ts';
import { printFirstPaths } from '../../../gate/scope/compare-trees.ts';
import type { ToolReport } from '../../../ports/tool-backend.ts';
import { type RepositoryFolders, repositoriesInRoot, submoduleGitFolder } from '../../sandbox/mounts/writable-git.ts';
import type { OverlayWrites } from '../../sandbox/sandbox.ts';
import type { OverlayChange } from '../overlay-changes.ts';
import type { ScannedCallTree } from '../shell-context.ts';
import { findGitChanges, GIT_CONFIG_CHANGED_PHRASE, type GitChanges } from './git-changes.ts';

/** Finds a command's changes of git's folder, which may lie outside of the root. Null if no message is needed. */
export function findGitChangesOfRoot(
  root: string,
  { outer: [outer], gitFiles }: ScannedCallTree['scan'],
  view: OverlayWrites,
): GitChanges | null {
  const [own, ...modules] = repositoriesInRoot(root, gitFiles);
  if (own)
    return combineChanges(
      findGitChanges(own, root, view),
      modules.map((each) => moduleChanges(root, each, view)),
    );
  return outer && view.other ? findGitChanges(outer.repository, outer.folder, view.other) : null;
}

/** Changes of a submodule's repository; they are labelled with the submodule's name. */
function moduleChanges(root: string, folders: RepositoryFolders, view: OverlayWrites): GitChanges | null {
  const changes = findGitChanges(folders, root, view);
  const name = relative(submoduleGitFolder(root), folders.gitDir);
  return changes && { ...changes, lost: changes.lost.map((what) => `${what} of the submodule ${name}`) };
}

function combineChanges(own: GitChanges | null, modules: readonly (GitChanges | null)[]): GitChanges | null {
  const all = [own, ...modules].filter((each) => each !== null);
  if (all.length <= 1) return all[0] ?? null;
  return {
    spoils: all.find(({ spoils }) => spoils !== null)?.spoils ?? null,
    lost: all.flatMap(({ lost }) => lost),
    staged: all.some(({ staged }) => staged),
  };
}

/** True for paths in the root's own `.git`. Changes of them are always discarded. */
export const isInGitFolder = (path: string): boolean => path === '.git' || path.startsWith('.git/');

/** True for a masked file that git wrote back as the empty cover, as `git stash` does. */
export const isCoverWrittenBack = (change: OverlayChange, masked: ReadonlySet<string>): boolean =>
  change.kind === 'file' && change.upper.size === 0 && (change.upper.mode & 0o133) === 0 && masked.has(change.path);

/** The advice for changes of git's folder that were not kept. */
function nextStep(lost: readonly string[]): string {
  const settings = lost.filter((what) => what.startsWith(GIT_CONFIG_CHANGED_PHRASE));
  return [
    ...(settings.length < lost.length
      ? ['Commits, branches and tags are made with bash-git where the scope ships.']
      : []),
    ...(settings.length > 0 ? ['Only the operator changes the configuration of git; ask them to.'] : []),
  ].join(' ');
}

/**
 * The report of a command that changed the overlay of `.git`.
 * @param kept `files` if the command's changes of files are kept
 */
export function reportGitChanges(
  { outcome, effects }: ToolReport,
  git: GitChanges | null,
  kept: 'files' | 'nothing',
): ToolReport {
  if (git === null || outcome.status !== 'ok') return { outcome, effects };
  const { spoils, lost, staged } = git;
  const { result } = outcome;
  const failed = (message: string): ToolReport => ({
    outcome: { status: 'failed', code: 'git-not-kept', message, result },
    effects,
  });
  if (spoils !== null) return failed(`No change of this command was kept: ${spoils}.`);
  const files = kept === 'files';
  if (lost.length > 0)
    return failed(
      `${files ? 'Changes of files were kept, but not' : 'Not kept:'} ${printFirstPaths(lost)}. ${nextStep(lost)}`,
    );
  if (!staged) return { outcome, effects };
  const note = `What was staged is not kept after the command${files ? '; changed files are kept. A commit stages them again' : ''}.`;
  return { outcome: { status: 'ok', result: { ...fieldsOf(result), git: note } }, effects };
}
