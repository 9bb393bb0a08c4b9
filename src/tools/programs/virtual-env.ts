import { createHash } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { listFileNames, readTextOrEmpty, realpathIfAny } from '../../base/files.ts';
import { type Env, homeFolder } from '../../base/user-folders.ts';

export interface VirtualEnv {
  /** Absolute path of the virtual environment. */
  readonly folder: string;
  /** True if the environment is in the home folder, where its manager finds it by the repository's path. */
  readonly isOutside: boolean;
}

/** The repository's virtual environment: `.venv`, or Pipenv's or Poetry's. Null without one, or if one is active. */
export function findVirtualEnv(root: string, env: Env): VirtualEnv | null {
  if (env['VIRTUAL_ENV']) return null;
  const own = join(root, '.venv');
  if (isVirtualEnv(own)) return { folder: own, isOutside: false };
  const outside = existsSync(join(root, 'Pipfile')) ? pipenvFolder(root, env) : null;
  const folder = outside ?? (existsSync(join(root, 'poetry.lock')) ? poetryFolder(root, env) : null);
  return folder === null ? null : { folder, isOutside: true };
}

const isVirtualEnv = (folder: string): boolean => existsSync(join(folder, 'pyvenv.cfg'));

/** Pipenv writes the path of the project into each of its environments. */
function pipenvFolder(root: string, env: Env): string | null {
  const all = env['WORKON_HOME'] || join(homeFolder(env), '.local/share/virtualenvs');
  const mine = listFileNames(all)
    .map((name) => join(all, name))
    .filter((folder) => isVirtualEnv(folder) && readTextOrEmpty(join(folder, '.project')).trim() === root);
  return newestFolder(mine);
}

/** Poetry ends the name of an environment with a hash of the project's path and the version of Python. */
function poetryFolder(root: string, env: Env): string | null {
  const cache = env['POETRY_CACHE_DIR'] || join(homeFolder(env), '.cache/pypoetry');
  const all = env['POETRY_VIRTUALENVS_PATH'] || join(cache, 'virtualenvs');
  const mark = createHash('sha256')
    .update(realpathIfAny(root) ?? root)
    .digest('base64url')
    .slice(0, 8);
  const isMine = (name: string) => /^py\d[\d.]*$/.test(name.slice(name.lastIndexOf(`-${mark}-`) + mark.length + 2));
  const mine = listFileNames(all).filter((name) => name.includes(`-${mark}-`) && isMine(name));
  return newestFolder(mine.map((name) => join(all, name)).filter(isVirtualEnv));
}

const newestFolder = (folders: readonly string[]): string | null =>
  folders.toSorted((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)[0] ?? null;
