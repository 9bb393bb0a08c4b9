import { existsSync, lstatSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { lstatIfAny, readTextOrEmpty, realpathIfAny } from '../../base/files.ts';
import { isPathWithin } from '../../base/paths.ts';
import { failedToolStop, type ToolStop } from '../workspace/tool-stop.ts';

/** The folders of a work tree's repository. All paths are absolute and real. */
export interface GitRepository {
  readonly root: string;
  /** The work tree's own part: HEAD, index. */
  readonly gitDir: string;
  /** The shared part: objects, refs and config. It differs from `gitDir` only in a linked work tree. */
  readonly commonDir: string;
}

/**
 * Finds the repository whose work tree is exactly `root`, without git and without a search in parent folders. A
 * repository outside of the root counts only if it names this root itself, so that a file in the root cannot select any
 * repository.
 */
export function findRepository(root: string): GitRepository | ToolStop {
  const dotGit = join(root, '.git');
  const stat = lstatIfAny(dotGit);
  if (stat === undefined) {
    if (isBareRepository(root))
      return notARepository(`${root} is a bare repository; open the session in a work tree of it.`);
    return notARepository(`${root} has no .git; open the session at the top of a repository, or run "git init" there.`);
  }
  if (stat.isSymbolicLink()) return notARepository(`${dotGit} is a symbolic link; make it a folder.`);
  const gitDir = stat.isDirectory() ? dotGit : gitFileTarget(dotGit);
  if (gitDir === null) return notARepository(`${dotGit} names no folder; repair it with "git worktree repair".`);
  const commonDir = commonDirOf(root, gitDir);
  if (commonDir === null)
    return notARepository(
      `${dotGit} leads to a repository whose work tree is not ${root}. For a linked work tree, run "git worktree repair". For a submodule or a separate git folder, run "git config core.worktree ${root}" in ${gitDir}. If ${dotGit} is a folder, delete its file commondir.`,
    );
  const objects = realpathIfAny(join(commonDir, 'objects'));
  if (objects === null || !existsSync(join(gitDir, 'HEAD')))
    return notARepository(`${gitDir} is not a complete git folder; check it with "git fsck".`);
  if (![root, commonDir].some((folder) => isPathWithin(folder, objects)))
    return notARepository(`the objects of ${commonDir} are a link that leads out of it; make them a folder.`);
  return { root, gitDir, commonDir };
}

export const isBareRepository = (folder: string): boolean =>
  ['HEAD', 'objects', 'refs'].every((name) => existsSync(join(folder, name)));

const notARepository = (message: string): ToolStop => failedToolStop('not-a-repository', message);

/** The name of the branch of HEAD; null if HEAD is detached. */
export const currentBranch = ({ gitDir }: Pick<GitRepository, 'gitDir'>): string | null =>
  /^ref: refs\/heads\/(.+)\n?$/.exec(readTextOrEmpty(join(gitDir, 'HEAD')))?.[1] ?? null;

/** The folder that a `.git` file names; null if it names no existing folder. */
export function gitFileTarget(path: string): string | null {
  const named = /^gitdir: (.+)$/.exec(readTextOrEmpty(path).trim())?.[1];
  return named === undefined ? null : realFolder(resolve(path, '..', named));
}

/** The folder with the objects of a work tree's repository; null if the repository does not name this work tree. */
function commonDirOf(root: string, gitDir: string): string | null {
  if (lstatIfAny(join(gitDir, 'commondir'))) {
    const commonDir = realFolder(resolve(gitDir, readTextOrEmpty(join(gitDir, 'commondir')).trim()));
    const back = resolve(gitDir, readTextOrEmpty(join(gitDir, 'gitdir')).trim());
    // A linked work tree's entry lies in its repository, so only a writer of the repository can have made it.
    const isEntry = commonDir !== null && dirname(gitDir) === join(commonDir, 'worktrees');
    return isEntry && realpathIfAny(back) === join(root, '.git') ? commonDir : null;
  }
  if (isPathWithin(root, gitDir)) return gitDir;
  const stated = configuredWorkTree(gitDir);
  return stated !== null && realpathIfAny(stated) === root ? gitDir : null;
}

/** The work tree named by a repository's own configuration (core.worktree); null if it names none. */
export function configuredWorkTree(gitDir: string): string | null {
  const texts = ['config', 'config.worktree'].map((name) => readTextOrEmpty(join(gitDir, name)));
  const stated = texts.flatMap((text) => [...text.matchAll(/^[ \t]*worktree[ \t]*=(.*)$/gim)]).at(-1)?.[1];
  return stated === undefined ? null : resolve(gitDir, stated.trim().replace(/^"|"$/g, ''));
}

function realFolder(path: string): string | null {
  const real = realpathIfAny(path);
  return real !== null && lstatSync(real).isDirectory() ? real : null;
}
