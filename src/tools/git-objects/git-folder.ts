import { join } from 'node:path';
import { findRepository } from '../git/repository.ts';
import { isStop } from '../workspace/outcome.ts';

/** A folder where git keeps objects, and which paths its trees speak of. */
export interface GitFolder {
  /** Absolute. Its HEAD and index. */
  readonly gitDir: string;
  /** Absolute. Its refs and objects; the same but for a linked work tree. */
  readonly commonDir: string;
  /** What its paths may begin with to be root-relative. Which holds is not always known, and then each counts. */
  readonly prefixes: readonly string[];
}

/**
 * The repositories that a command in the root can read: the root's own, wherever it lies, and those beneath the root.
 * @param found root-relative folders that look like repositories
 */
export function gitFolders(root: string, found: readonly string[]): GitFolder[] {
  const own = findRepository(root);
  const main = isStop(own) ? null : { gitDir: own.gitDir, commonDir: own.commonDir, prefixes: [''] };
  const others = found
    .map((path) => ({ path, gitDir: join(root, path) }))
    .filter(({ gitDir }) => gitDir !== main?.commonDir)
    .map(({ path, gitDir }) => ({ gitDir, commonDir: gitDir, prefixes: ['', `${workTreeOf(path)}/`] }));
  return main ? [main, ...others] : others;
}

/** Where the work tree of a repository within the tree most likely is: around it, or, of a submodule, at the path that names it. */
const workTreeOf = (path: string): string => path.replace(/^(?:.*\/)?\.git\/modules\//, '').replace(/\/\.git$/, '');
