import type { Dirent } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { readTextOrEmpty } from '../../base/files.ts';
import { isPathWithin } from '../../base/paths.ts';
import { configuredWorkTree, findRepository, gitFileTarget } from '../git/repository.ts';
import { readFolder } from '../sandbox/mounts/read-folder.ts';
import type { TreeScan } from '../sandbox/mounts/scan-tree.ts';
import { isStop } from '../workspace/tool-stop.ts';

/** The folders of a repository, and where its work tree may lie. */
export interface GitFolder {
  /** Absolute path of the folder with HEAD and index. */
  readonly gitDir: string;
  /** Absolute path of the folder with refs and objects; differs from `gitDir` only in a linked work tree. */
  readonly commonDir: string;
  /** Prefixes that make paths in git's trees root-relative: the possible folders of the work tree, such as `lib/`. */
  readonly prefixes: readonly string[];
}

/**
 * The repositories that a command can read: the root's own repository, the repositories of its submodules, and the
 * repositories inside the root.
 */
export function findGitFolders(
  root: string,
  { repositories, gitFiles, outer }: Pick<TreeScan, 'repositories' | 'gitFiles' | 'outer'>,
): GitFolder[] {
  const own = findRepository(root);
  const main = isStop(own) ? null : own;
  const others = new Set([
    ...repositories.map((path) => join(root, path)),
    ...outer.flatMap((each) => each.repositories.map((path) => join(each.folder, path))),
  ]);
  for (const folder of [main?.commonDir, main?.gitDir]) others.delete(folder ?? '');
  const trees = gitFiles.map((path) => ({ tree: dirname(path), gitDir: gitFileTarget(join(root, path)) }));
  const folders = [...others].map((gitDir) => {
    const named = trees.filter((each) => each.gitDir === gitDir).map(({ tree }) => tree);
    return { gitDir, commonDir: gitDir, prefixes: prefixesOf(root, gitDir, named) };
  });
  return main
    ? [
        { gitDir: main.gitDir, commonDir: main.commonDir, prefixes: ['', ...linkedWorkTrees(root, main.commonDir)] },
        ...folders,
      ]
    : folders;
}

/** The folders of a repository with a HEAD file: the common folder, and a folder for each linked work tree. */
export function foldersWithGitHead({ gitDir, commonDir }: Pick<GitFolder, 'gitDir' | 'commonDir'>): string[] {
  const linked = subfolders(join(commonDir, 'worktrees'));
  return [...new Set([commonDir, gitDir, ...linked])];
}

/**
 * The folders that may be the work tree of a repository, as path prefixes: the root (an empty prefix), the folder
 * around the repository, the folder of a submodule, the configured folder, and the folders whose `.git` names the
 * repository.
 */
function prefixesOf(root: string, gitDir: string, named: readonly string[]): string[] {
  const path = relative(root, gitDir);
  const [outer, module] = /^(.*?)\/modules\/(.*)$/.exec(gitDir)?.slice(1) ?? [];
  const workTree = configuredWorkTree(gitDir);
  const bases = [root, ...(outer === undefined ? [] : [dirname(outer)])];
  const paths = [
    ...named,
    ...(module === undefined ? [basename(path) === '.git' ? dirname(path) : path] : [module]),
    ...(workTree === null
      ? []
      : bases.filter((base) => isPathWithin(base, workTree)).map((base) => relative(base, workTree))),
  ].filter((path) => path !== '' && path !== '.' && !path.startsWith('..'));
  return ['', ...new Set(paths.map((path) => `${path}/`))];
}

function linkedWorkTrees(root: string, commonDir: string): string[] {
  return subfolders(join(commonDir, 'worktrees'))
    .map((path) => dirname(resolve(path, readTextOrEmpty(join(path, 'gitdir')).trim())))
    .filter((folder) => folder !== root && isPathWithin(root, folder))
    .map((folder) => `${relative(root, folder)}/`);
}

const subfolders = (folder: string): string[] =>
  readFolder(folder)
    .filter((entry: Dirent) => entry.isDirectory())
    .map(({ name }) => join(folder, name));
