import { dirname, join, relative } from 'node:path';
import { lstatIfAny } from '../../../base/files.ts';
import { isPathWithin } from '../../../base/paths.ts';
import { type GitRepository, gitFileTarget } from '../../git/repository.ts';
import type { SandboxMount } from '../mount.ts';
import type { MaskLayerFile } from './mask-layer.ts';
import { readFolder } from './read-folder.ts';

/** The path of a repository's existing objects in a sandbox in which git writes new objects to memory. */
const objectsMount = (at: number): string => `/var/git-objects${at === 0 ? '' : `-${at}`}`;
/** Maximum size in bytes of the git objects that a command may write to memory. */
const OBJECTS_BYTES = 256 << 20;

/** Files of git that stay read-only, because they name programs, repositories or patterns: a change fails at once. */
const SEALED = ['hooks', 'info', 'modules', 'commondir', 'gitdir'];

/** The two folders of a repository: its own part (HEAD, index), and the part that linked work trees share. */
export type RepositoryFolders = Pick<GitRepository, 'gitDir' | 'commonDir'>;

interface WritableGit {
  readonly sealed: readonly SandboxMount[];
  /** Files that the overlay's layer covers, so that no mount is needed for them. */
  readonly layer: readonly MaskLayerFile[];
  readonly objects: readonly SandboxMount[];
}

/** The root's own `.git` folder, which the overlay of the root contains; null if it has none. */
export function repositoryInRoot(root: string): RepositoryFolders | null {
  const path = join(root, '.git');
  const isFolder = lstatIfAny(path)?.isDirectory() === true;
  return isFolder ? { gitDir: path, commonDir: path } : null;
}

/** The root's own repository, and the repositories of its submodules whose folders are in the root's own `.git`. */
export function repositoriesInRoot(root: string, gitFiles: readonly string[]): readonly RepositoryFolders[] {
  const own = repositoryInRoot(root);
  if (own === null) return [];
  const modules = gitFiles
    .flatMap((path) => gitFileTarget(join(root, path)) ?? [])
    .filter((folder) => isPathWithin(submoduleGitFolder(root), folder));
  return [own, ...[...new Set(modules)].map((folder) => ({ gitDir: folder, commonDir: folder }))];
}

export const submoduleGitFolder = (root: string): string => join(root, '.git/modules');

/** The folders of a repository in another folder that shows the content of `top`, such as an overlay. */
export const gitFoldersBelow = (
  place: string,
  top: string,
  { gitDir, commonDir }: RepositoryFolders,
): RepositoryFolders => ({
  gitDir: join(place, relative(top, gitDir)),
  commonDir: join(place, relative(top, commonDir)),
});

/**
 * Makes the git folders of a repository writable in an overlay. All that a command writes there is discarded with the
 * overlay. Masked objects stay hidden: git writes new objects to a folder in memory, and reads existing objects from a
 * copy without masked objects at {@link objectsMount}.
 * @param top the folder that the overlay shows; the git folders are in it
 * @param objects mounts that hide the masked files among the git objects
 * @param at index of the repository among the repositories that are opened in one sandbox
 */
export function makeGitWritable(
  top: string,
  { gitDir, commonDir }: RepositoryFolders,
  objects: readonly SandboxMount[],
  at = 0,
): WritableGit {
  const place = join(commonDir, 'objects');
  const names = [...SEALED.map((name) => join(commonDir, name)), ...SEALED.map((name) => join(gitDir, name))];
  const sealed = [...new Set([...names, ...otherWorkTrees(gitDir, commonDir)])]
    .filter((path) => lstatIfAny(path)?.isSymbolicLink() !== true)
    .map((target): SandboxMount => ({ kind: 'sealed', target }));
  const covers = objects.flatMap((mount) => {
    const isFile = mount.kind === 'empty-file' && isPathWithin(commonDir, mount.target);
    return isFile && !isPathWithin(place, mount.target) ? [mount.target] : [];
  });
  const others = objects.filter(({ target }) => !covers.includes(target));
  const isCopied = others.some(({ kind, target }) => kind === 'read-only' && target === place);
  return {
    sealed,
    layer: covers.map((path) => ({ path: relative(top, path), text: '', mode: 0o644 })),
    objects: isCopied
      ? [
          { kind: 'scratch', target: place, bytes: OBJECTS_BYTES },
          { kind: 'text-file', target: join(place, 'info/alternates'), text: `${objectsMount(at)}\n` },
          ...others.map((mount) =>
            mount.kind === 'read-only' ? { ...mount, target: movePath(mount.target, place, objectsMount(at)) } : mount,
          ),
        ]
      : others,
  };
}

/** The folders of a repository's other linked work trees. */
function otherWorkTrees(gitDir: string, commonDir: string): string[] {
  const folder = join(commonDir, 'worktrees');
  if (dirname(gitDir) !== folder) return [folder];
  return readFolder(folder)
    .map(({ name }) => join(folder, name))
    .filter((path) => path !== gitDir);
}

const movePath = (target: string, place: string, to: string): string =>
  target === place || target.startsWith(`${place}/`) ? to + target.slice(place.length) : target;
