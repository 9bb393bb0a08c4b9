import { join, relative } from 'node:path';
import { readTextOrEmpty } from '../../../base/files.ts';
import { isPathWithin } from '../../../base/paths.ts';
import { gitFileTarget } from '../../git/repository.ts';
import { indexAssumingUnchanged } from '../../git-objects/git-index.ts';
import type { SandboxMount } from '../mount.ts';
import type { OverlayMount } from './bwrap-arguments.ts';
import { chooseWatchedCovers } from './covers.ts';
import { removeGitCredentials } from './filter-git-config.ts';
import { type MaskLayerFile, makeMaskLayer } from './mask-layer.ts';
import type { OuterGitFolder, TreeScan } from './scan-tree.ts';
import { makeGitWritable } from './writable-git.ts';

/** Mounts that cover the masked paths of a scan; they must follow the mount of the tree. */
export function maskMounts(root: string, scan: TreeScan): SandboxMount[] {
  const indexes = indexMounts(root, scan).filter(({ target }) => isPathWithin(root, target));
  return [...folderMounts(root, scan), ...scan.maskedFiles.map((path) => coverMount(join(root, path))), ...indexes];
}

const folderMounts = (root: string, { maskedFolders }: TreeScan): SandboxMount[] =>
  maskedFolders.map((path) => ({ kind: 'empty-folder', target: join(root, path) }));

/** The mounts of {@link maskMounts} for an overlay. Its layer covers the masked files and adds the files in `more`. */
export function makeMaskOverlay(
  root: string,
  scan: TreeScan,
  more: readonly MaskLayerFile[] = [],
): { readonly layer: Pick<OverlayMount, 'layer' | 'covers'>; readonly mounts: readonly SandboxMount[] } {
  const covers = scan.maskedFiles.map((path): MaskLayerFile => ({ path, text: coverText(join(root, path)) }));
  const indexes = maskedIndexes(root, scan).filter(({ path }) => isPathWithin(root, path));
  const files = [
    ...covers,
    ...more.filter(({ path }) => !scan.maskedFiles.includes(path)),
    ...indexes.map(({ path, text }) => ({ path: relative(root, path), text, mode: 0o644 })),
  ];
  return {
    layer: files.length > 0 ? { layer: makeMaskLayer(root, files), covers: chooseWatchedCovers(root, covers) } : {},
    mounts: folderMounts(root, scan),
  };
}

/** Copies of the indexes that track covered files, for work trees in the root; git takes these files as unchanged. */
function maskedIndexes(root: string, scan: TreeScan): { readonly path: string; readonly text: Buffer }[] {
  const covered = [...scan.maskedFiles, ...scan.maskedFolders];
  const [own] = scan.outer;
  const trees = [
    ...(own ? [{ tree: '', gitDir: own.repository.gitDir }] : []),
    ...scan.repositories.flatMap((path) =>
      path === '.git' || path.endsWith('/.git') ? [{ tree: path.slice(0, -5), gitDir: join(root, path) }] : [],
    ),
    ...scan.gitFiles.flatMap((path) => {
      const gitDir = gitFileTarget(join(root, path));
      return gitDir === null ? [] : [{ tree: path.slice(0, -5), gitDir }];
    }),
  ];
  const indexes = trees.flatMap(({ tree, gitDir }) => {
    const path = join(gitDir, 'index');
    const inTree = covered.flatMap((each) =>
      tree === '' ? [each] : each.startsWith(`${tree}/`) ? [each.slice(tree.length + 1)] : [],
    );
    const text = indexAssumingUnchanged(path, inTree);
    return text === null ? [] : [{ path, text }];
  });
  return [...new Map(indexes.map((index) => [index.path, index])).values()];
}

/**
 * The text of a masked file in a sandbox: empty, or for a configuration of git, the settings that git needs, without
 * credentials.
 */
const coverText = (path: string): string =>
  /\/config(?:\.worktree)?$/.test(path) ? removeGitCredentials(readTextOrEmpty(path)) : '';

function coverMount(target: string): SandboxMount {
  const text = coverText(target);
  return text === '' ? { kind: 'empty-file', target } : { kind: 'text-file', target, text };
}

/** Mounts for a repository outside of the root (of a linked work tree or submodule): read-only, no credentials. */
export const mountsOfOuterGit = (root: string, scan: TreeScan): SandboxMount[] =>
  scan.outer.flatMap(({ folder, hits }): SandboxMount[] => [
    { kind: 'read-only', source: folder, target: folder },
    ...hits.map(({ path, entry }): SandboxMount => {
      const target = join(folder, path);
      return entry.isDirectory() ? { kind: 'empty-folder', target } : coverMount(target);
    }),
    ...indexMounts(root, scan).filter(({ target }) => isPathWithin(folder, target)),
  ]);

/** Mounts that replace git's indexes by the copies of {@link maskedIndexes}, for layouts without a layer. */
const indexMounts = (root: string, scan: TreeScan): SandboxMount[] =>
  maskedIndexes(root, scan).map(({ path, text }) => ({ kind: 'text-file', target: path, text, isOpen: true }));

/**
 * Mounts the repository of a linked work tree or submodule as an overlay, in which git may write.
 * @param bytes maximum size of what a command writes
 * @param objects mounts that cover the objects of masked files
 */
export function makeOuterGitWritable(
  { folder, repository, hits }: OuterGitFolder,
  { root, scan }: { readonly root: string; readonly scan: TreeScan },
  bytes: number,
  objects: readonly SandboxMount[],
): { readonly mounts: readonly SandboxMount[]; readonly objects: readonly SandboxMount[] } {
  const { sealed, layer, objects: opened } = makeGitWritable(folder, repository, objects);
  const indexes = maskedIndexes(root, scan).filter(({ path }) => isPathWithin(folder, path));
  const [folders, covered] = [true, false].map((isFolder) =>
    hits.filter((hit) => hit.entry.isDirectory() === isFolder),
  );
  const files = new Map(
    [
      ...layer,
      ...indexes.map(({ path, text }) => ({ path: relative(folder, path), text, mode: 0o644 })),
      ...covered!.map(({ path }) => ({ path, text: coverText(join(folder, path)) })),
    ].map((file): [string, MaskLayerFile] => [file.path, file]),
  );
  const covers = files.size > 0 ? { layer: makeMaskLayer(folder, [...files.values()]) } : {};
  return {
    objects: opened,
    mounts: [
      { kind: 'overlay', source: folder, target: folder, bytes, ...covers },
      ...sealed,
      ...folders!.map(({ path }): SandboxMount => ({ kind: 'empty-folder', target: join(folder, path) })),
    ],
  };
}
