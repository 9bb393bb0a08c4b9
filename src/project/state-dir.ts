import { hash } from 'node:crypto';
import { accessSync, constants, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolderPrivate, makeFolders, pathExists } from '../base/files.ts';
import { isPathWithin } from '../base/paths.ts';
import { type Env, userStateFolder } from '../base/user-folders.ts';
import { ProjectError } from './project-error.ts';
import { realRepositoryRoot } from './repository-root.ts';

/**
 * The folder of hopgate's state of a repository: evidence, approvals, keys, trust. Named by the root's real path and
 * never inside the root: `$XDG_STATE_HOME/hopgate/<first 16 hex digits of its sha256>`. Only computes the name; see
 * {@link ensureStateDir}.
 * @throws ProjectError `state-dir-inside-root`: the folder would be inside the root, where an agent could write it.
 */
export function stateDir(root: string, env: Env): string {
  const real = realRepositoryRoot(root);
  const dir = join(userStateFolder(env), hash('sha256', real).slice(0, 16));
  if (isPathWithin(real, realPathOfExistingPart(dir)))
    throw new ProjectError(
      'state-dir-inside-root',
      `the state folder ${dir} lies inside the root ${real}, where an agent could write it`,
    );
  return dir;
}

/**
 * {@link stateDir}, created if missing, and closed to other users (0700).
 * @throws ProjectError `state-dir-unwritable`; `state-dir-unsafe`: it is a link, not a folder, or owned by another
 *   user. `state-dir-inside-root` as for {@link stateDir}.
 */
export function ensureStateDir(root: string, env: Env): string {
  const dir = stateDir(root, env);
  try {
    makeFolders(dir, 0o700);
    accessSync(dir, constants.W_OK);
  } catch (cause) {
    throw new ProjectError(
      'state-dir-unwritable',
      `the state folder ${dir} cannot be written (${(cause as NodeJS.ErrnoException).code})`,
      { cause },
    );
  }
  for (const path of [dirname(dir), dir]) {
    const problem = makeFolderPrivate(path);
    if (problem !== null) throw new ProjectError('state-dir-unsafe', `the state folder ${path} is ${problem}`);
  }
  return dir;
}

/** The file with the evidence of the repository that has this state folder; it may not exist yet. */
export const evidenceFileIn = (dir: string): string => join(dir, 'evidence.db');

/** The file of {@link evidenceFileIn}; null if no session of the repository has been opened yet. */
export function findEvidenceIn(dir: string): string | null {
  const file = evidenceFileIn(dir);
  return pathExists(file) ? file : null;
}

/** The file with a repository's evidence; it may not exist yet. */
export const evidenceFile = (root: string, env: Env): string => evidenceFileIn(stateDir(root, env));

/** The real path of the deepest existing part, with the rest appended. */
function realPathOfExistingPart(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realPathOfExistingPart(parent), path.slice(parent.length));
  }
}
