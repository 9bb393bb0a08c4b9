import { lstatSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { listFileNames, readTextOrEmpty, realpathIfAny } from '../base/files.ts';
import { gitRootOf } from './repository-root.ts';

/**
 * Returns the folder at the same relative path in the other work trees of the git repository. The repository and the
 * work tree must name each other, so a downloaded folder cannot claim to be one of them.
 * @param root absolute real path
 */
export function otherWorkTrees(root: string): readonly string[] {
  const top = gitRootOf(root);
  const common = top === null ? null : commonGitDirOf(top);
  if (top === null || common === null) return [];
  const main = basename(common) === '.git' ? [dirname(common)] : [];
  const entries = join(common, 'worktrees');
  const linked = listFileNames(entries).map((name) => dirname(readTextOrEmpty(join(entries, name, 'gitdir')).trim()));
  return [...main, ...linked]
    .filter((other) => other !== top && commonGitDirOf(other) === common)
    .map((other) => join(other, relative(top, root)));
}

/** The folder that the work trees of a repository share; null if the repository does not name the work tree. */
export function commonGitDirOf(top: string): string | null {
  const dotGit = join(top, '.git');
  const stat = lstatSync(dotGit, { throwIfNoEntry: false });
  if (stat?.isDirectory()) return lstatSync(join(dotGit, 'commondir'), { throwIfNoEntry: false }) ? null : dotGit;
  const named = stat?.isFile() ? /^gitdir: (.+)$/.exec(readTextOrEmpty(dotGit).trim())?.[1] : undefined;
  const entry = named === undefined ? null : realpathIfAny(resolve(top, named));
  if (entry === null) return null;
  const common = realpathIfAny(resolve(entry, readTextOrEmpty(join(entry, 'commondir')).trim()));
  const back = realpathIfAny(resolve(entry, readTextOrEmpty(join(entry, 'gitdir')).trim()));
  return common !== null && dirname(entry) === join(common, 'worktrees') && back === dotGit ? common : null;
}
