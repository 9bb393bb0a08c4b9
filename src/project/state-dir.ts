import { hash } from 'node:crypto';
import { accessSync, chmodSync, constants, existsSync, lstatSync, mkdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isWithin } from '../base/paths.ts';
import { ProjectError } from './project-error.ts';
import { realRoot } from './root.ts';
import { type Env, stateHome } from './state-home.ts';

/**
 * Where hopgate keeps what it knows of a repository: evidence, approvals, keys, trust. Named by the root's real path, never under it:
 * `$XDG_STATE_HOME/hopgate/<first 16 hex digits of its sha256>`. Only computes the name; see {@link ensureStateDir}.
 *
 * @throws ProjectError `state-dir-inside-root`: the folder would lie beneath the root, where an agent could write it.
 */
export function stateDir(root: string, env: Env): string {
  const real = realRoot(root);
  const dir = join(stateHome(env), hash('sha256', real).slice(0, 16));
  if (isWithin(real, realEnough(dir)))
    throw new ProjectError(
      'state-dir-inside-root',
      `the state folder ${dir} lies inside the root ${real}, where an agent could write it`,
    );
  return dir;
}

/**
 * {@link stateDir}, made if it is not there and closed to everyone else (0700).
 *
 * @throws ProjectError `state-dir-unwritable`; `state-dir-unsafe`: it is a link, no folder, or someone else's. `state-dir-inside-root` as above.
 */
export function ensureStateDir(root: string, env: Env): string {
  const dir = stateDir(root, env);
  try {
    makeFolders(dir);
    accessSync(dir, constants.W_OK);
  } catch (cause) {
    throw new ProjectError(
      'state-dir-unwritable',
      `the state folder ${dir} cannot be written (${(cause as NodeJS.ErrnoException).code})`,
      { cause },
    );
  }
  for (const path of [dirname(dir), dir]) {
    const stat = lstatSync(path);
    const owner = process.getuid?.();
    if (!stat.isDirectory() || (owner !== undefined && stat.uid !== owner))
      throw new ProjectError(
        'state-dir-unsafe',
        `the state folder ${path} is ${stat.isDirectory() ? `owned by user ${stat.uid}, not by you` : 'not a folder'}`,
      );
    if ((stat.mode & 0o077) !== 0) chmodSync(path, 0o700);
  }
  return dir;
}

/** As `mkdir -p` does it. Node's own recursive one never ends where a folder beneath `/proc` is asked for (24.21). */
function makeFolders(dir: string): void {
  if (existsSync(dir)) return;
  const parent = dirname(dir);
  if (parent !== dir) makeFolders(parent);
  try {
    mkdirSync(dir, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** The real path of the deepest part that is there, with the rest appended. */
function realEnough(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realEnough(parent), path.slice(parent.length));
  }
}
