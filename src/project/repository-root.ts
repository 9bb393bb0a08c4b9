import { existsSync, lstatSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { ProjectError } from './project-error.ts';

export const CONFIG_FILE = 'hopgate.yaml';

/** The real path of the repository's root; a relative path starts at `cwd`. */
export function realRepositoryRoot(root: string, cwd = process.cwd()): string {
  const path = resolve(cwd, root);
  try {
    const real = realpathSync(path);
    if (lstatSync(real).isDirectory()) return real;
  } catch (cause) {
    throw new ProjectError('no-root', `there is no folder ${path}`, { cause });
  }
  throw new ProjectError('no-root', `${path} is not a folder`);
}

/**
 * The repository of a folder: the nearest folder with a hopgate.yaml, from the folder itself up to the root of its git
 * working tree. If there is none, or outside of git, the folder itself. So the operator's configuration applies in
 * every folder of the repository.
 * @param folder absolute real path
 */
export const repositoryOfFolder = (folder: string): string => findConfiguredFolder(folder) ?? folder;

/** The folder whose hopgate.yaml applies in a folder of a git working tree; null without one, or outside of git. */
export function findConfiguredFolder(folder: string): string | null {
  const top = gitRootOf(folder);
  if (top === null) return null; // Outside of git, a file in a parent folder may belong to anyone.
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, CONFIG_FILE))) return at;
    if (at === top) return null;
  }
}

/** The root of the git working tree that a folder is in; null outside of git. */
export function gitRootOf(folder: string): string | null {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at;
    if (at === dirname(at)) return null;
  }
}
