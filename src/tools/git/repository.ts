import { existsSync, lstatSync, readFileSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { failed, type Stop } from '../workspace/outcome.ts';

/** Where a work tree's repository lies. All paths are absolute and real. */
export interface Repository {
  readonly root: string;
  /** The work tree's own part: HEAD, index. */
  readonly gitDir: string;
  /** What linked work trees share: objects, refs, config. The same as `gitDir` except in a linked work tree. */
  readonly commonDir: string;
}

/** Finds the repository whose work tree is exactly `root`; git itself is not asked, and no parent folder is searched. */
export function findRepository(root: string): Repository | Stop {
  const dotGit = join(root, '.git');
  const stat = lstatSync(dotGit, { throwIfNoEntry: false });
  if (stat === undefined) {
    if (isGitFolder(root)) return none(`${root} is a bare repository; open the session in a work tree of it.`);
    return none(`${root} has no .git; open the session at the top of a repository, or run "git init" there.`);
  }
  if (stat.isSymbolicLink()) return none(`${dotGit} is a symbolic link; make it a folder.`);
  const gitDir = stat.isDirectory() ? dotGit : followGitFile(dotGit);
  if (gitDir === null)
    return none(`${dotGit} names no folder that belongs to this work tree; repair it with "git worktree repair".`);
  const common = readLine(join(gitDir, 'commondir'));
  const commonDir = common === null ? gitDir : realFolder(resolve(gitDir, common));
  if (commonDir === null || !existsSync(join(gitDir, 'HEAD')) || !existsSync(join(commonDir, 'objects')))
    return none(`${gitDir} is not a complete git folder; check it with "git fsck".`);
  return { root, gitDir, commonDir };
}

const none = (message: string): Stop => failed('not-a-repository', message);

/** A linked work tree or a submodule: `.git` is a file that names the folder, and the folder has to know this work tree. */
function followGitFile(dotGit: string): string | null {
  const named = /^gitdir: (.+)$/.exec(readLine(dotGit) ?? '')?.[1];
  const gitDir = named === undefined ? null : realFolder(resolve(dotGit, '..', named));
  if (gitDir === null) return null;
  const back = readLine(join(gitDir, 'gitdir'));
  if (back !== null) return realOrNull(resolve(gitDir, back)) === dotGit ? gitDir : null;
  return existsSync(join(gitDir, 'config')) && gitDir.includes('/modules/') ? gitDir : null;
}

function isGitFolder(folder: string): boolean {
  return ['HEAD', 'objects', 'refs'].every((name) => existsSync(join(folder, name)));
}

function readLine(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return null;
  }
}

function realOrNull(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

function realFolder(path: string): string | null {
  const real = realOrNull(path);
  return real !== null && lstatSync(real).isDirectory() ? real : null;
}
