import { hash } from 'node:crypto';
import { accessSync, chmodSync, constants, existsSync, lstatSync, mkdirSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { stateHome } from '../daemon/state-home.ts';
import { CliError, type Io } from './io.ts';

/** The real path of the repository's root; `--root` may name it relative to the folder that hopgate runs in. */
export function realRoot(root: string, cwd = process.cwd()): string {
  const path = resolve(cwd, root);
  try {
    const real = realpathSync(path);
    if (lstatSync(real).isDirectory()) return real;
  } catch (cause) {
    throw new CliError('no-root', `there is no folder ${path}`, 'Name the repository with --root DIR.', {
      cause,
      exitCode: 2,
    });
  }
  throw new CliError('no-root', `${path} is not a folder`, 'Name the repository with --root DIR.', { exitCode: 2 });
}

/**
 * Where hopgate keeps what it knows of a repository: evidence, approvals, keys, trust. Named by the root's real path, never under it:
 * `$XDG_STATE_HOME/hopgate/<first 16 hex digits of its sha256>`. Only computes the name; see {@link ensureStateDir}.
 *
 * @throws CliError `state-dir-inside-root`: the folder would lie beneath the root, where an agent could write it.
 */
export function stateDir(root: string, env: Io['env']): string {
  const real = realRoot(root);
  const dir = join(stateHome(env), hash('sha256', real).slice(0, 16));
  if (isInside(real, realEnough(dir)))
    throw new CliError(
      'state-dir-inside-root',
      `the state folder ${dir} lies inside the root ${real}, where an agent could write it`,
      'Set XDG_STATE_HOME to a folder outside of the root.',
    );
  return dir;
}

/**
 * {@link stateDir}, made if it is not there and closed to everyone else (0700).
 *
 * @throws CliError `state-dir-unwritable`; `state-dir-unsafe`: it is a link, no folder, or someone else's. `state-dir-inside-root` as above.
 */
export function ensureStateDir(root: string, env: Io['env']): string {
  const dir = stateDir(root, env);
  try {
    makeFolders(dir);
    accessSync(dir, constants.W_OK);
  } catch (cause) {
    throw new CliError(
      'state-dir-unwritable',
      `the state folder ${dir} cannot be written (${(cause as NodeJS.ErrnoException).code})`,
      'Make it writable, or set XDG_STATE_HOME to a folder of your own.',
      { cause },
    );
  }
  for (const path of [dirname(dir), dir]) {
    const stat = lstatSync(path);
    const owner = process.getuid?.();
    if (!stat.isDirectory() || (owner !== undefined && stat.uid !== owner))
      throw new CliError(
        'state-dir-unsafe',
        `the state folder ${path} is ${stat.isDirectory() ? `owned by user ${stat.uid}, not by you` : 'not a folder'}`,
        'Move it away, or set XDG_STATE_HOME to a folder of your own.',
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

const isInside = (root: string, path: string): boolean => {
  const way = relative(root, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
};

/** The real path of the deepest part that is there, with the rest appended. */
function realEnough(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realEnough(parent), path.slice(parent.length));
  }
}
