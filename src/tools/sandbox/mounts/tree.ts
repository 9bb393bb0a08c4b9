import { type Dirent, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { readIfAny, realpathIfAny } from '../../../base/files.ts';
import { isWithin } from '../../../base/paths.ts';
import { isGitCredential, isProtected, maskMatcher } from '../../../gate/scope/masks.ts';
import { findRepository, gitFileTarget } from '../../git/repository.ts';
import { assumeUnchanged } from '../../git-objects/git-index.ts';
import { isConfiguredGitFolder, isGitFolder, isGitOwn, isObjectStore } from '../../git-paths.ts';
import { isStop } from '../../workspace/tool-stop.ts';
import { LayoutError } from '../layout-error.ts';
import type { Mount } from '../mount.ts';
import type { OverlayMount } from './bwrap-arguments.ts';
import { cachedFolder, type SearchFindings, searchCached } from './cached-search.ts';
import { certificateTest, fileStamp } from './certificates.ts';
import { noticedCovers } from './covers.ts';
import { withoutCredentials } from './git-format.ts';
import { type LayerFile, maskLayer } from './mask-layer.ts';
import { isNonUtf8Name, refuseMaskedNonUtf8 } from './non-utf8-names.ts';
import { openGit, type RepositoryFolders } from './open-git.ts';
import { type FolderSeen, folderStamp, isUnlistable, readFolder } from './read-folder.ts';

/** The paths of a repository that the sandbox treats specially, all root-relative. */
export interface TreeScan {
  readonly maskedFiles: readonly string[];
  readonly maskedFolders: readonly string[];
  /** Files that a mask matches but that hold only certificates, with their state: commands see them. */
  readonly certificates: readonly { readonly path: string; readonly stamp: string }[];
  /** Only the topmost paths: the contents of a protected folder are not listed. */
  readonly protectedPaths: readonly string[];
  /** Folders that look like git repositories. */
  readonly repositories: readonly string[];
  /** Folders that look like git object stores and belong to none of these repositories. */
  readonly stores: readonly string[];
  /** `.git` files, which name the repository of their folder. */
  readonly gitFiles: readonly string[];
  /** All folders of the root that were read. */
  readonly folders: readonly FolderSeen[];
  /** Git folders of the root that lie outside of it. */
  readonly outer: readonly OuterGit[];
}

/** A git folder outside of the root. */
export interface OuterGit extends Pick<SearchFindings, 'hits' | 'repositories'> {
  /** Absolute; the paths of the findings are relative to it. */
  readonly folder: string;
  readonly repository: RepositoryFolders;
}

/** Maximum number of entries; beyond it the walk would take longer than the command. */
const MAX_ENTRIES = 400_000;

/**
 * Finds the masked and the protected paths of a repository. In `node_modules` and in git's folders of objects and refs,
 * it only searches masked paths and repositories, and does not read unchanged folders again.
 *
 * @throws LayoutError if the tree is too large to walk, because masked files that are not found would not be covered.
 */
export function scanTree(root: string, masks: readonly string[], maxEntries = MAX_ENTRIES): TreeScan {
  const masked = maskMatcher(masks);
  const isCertificate = certificateTest(root, masks);
  const found = {
    certificates: [] as { path: string; stamp: string }[],
    maskedFiles: [] as string[],
    maskedFolders: [] as string[],
    protectedPaths: [] as string[],
    repositories: [] as string[],
    stores: [] as string[],
    gitFiles: [] as string[],
    folders: [] as FolderSeen[],
  };
  let left = maxEntries;

  const walk = (folder: string, isFree: boolean): void => {
    found.folders.push({ path: folder, stamp: folderStamp(join(root, folder)) });
    const entries = readFolder(join(root, folder));
    if (entries.length === 0 && isUnlistable(join(root, folder))) {
      found.maskedFolders.push(folder);
      return;
    }
    const isGit = isConfiguredGitFolder(join(root, folder), entries);
    if (isGit && isGitFolder(entries)) found.repositories.push(folder);
    else if (isObjectStore(entries)) found.stores.push(folder);
    const isOpen = isFree && !(isGit && folder !== '');
    if (isFree && !isOpen) found.protectedPaths.push(folder);
    for (const entry of entries) {
      left -= 1;
      if (left < 0)
        throw new LayoutError(
          `${root} holds more than ${maxEntries} files outside node_modules; start hopgate in a smaller folder of it`,
        );
      if (isNonUtf8Name(join(root, folder), entry.name)) {
        refuseMaskedNonUtf8(root, folder, entry.name, masked);
        continue;
      }
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (masked(path) || (isGit && isGitCredential(entry.name))) {
        cover(path, entry);
        continue;
      }
      const free = isOpen && !isProtected(path) && !(isGit && isGitOwn(entry.name));
      // bubblewrap would mount the target of a link instead of the link.
      if (isOpen && !free && !entry.isSymbolicLink()) found.protectedPaths.push(path);
      if (entry.name === '.git' && entry.isFile()) found.gitFiles.push(path);
      if (!entry.isDirectory()) continue;
      const cached = cachedFolder(path, entry.name, isGit);
      if (cached) note(searchCached(root, cached, masks, masked));
      else walk(path, free);
    }
  };
  const note = ({ hits, repositories, stores, gitFiles, folders }: SearchFindings) => {
    for (const hit of hits) cover(hit.path, hit.entry);
    // Added one by one: a folder of packages may be too long for spread arguments.
    for (const each of folders) found.folders.push(each);
    found.repositories.push(...repositories);
    found.stores.push(...stores);
    found.gitFiles.push(...gitFiles);
  };
  const cover = (path: string, entry: Pick<Dirent, 'isDirectory' | 'isSymbolicLink'>) => {
    if (entry.isDirectory()) found.maskedFolders.push(path);
    // A link needs no cover: a target inside the tree is matched at its own path. If only the link's name is masked,
    // the target is covered.
    else if (entry.isSymbolicLink()) coverTarget(path);
    else coverFile(path);
  };
  const coverFile = (path: string) => {
    // The state is read before the content, so that a later change is detected.
    const stamp = fileStamp(join(root, path));
    if (isCertificate(path)) found.certificates.push({ path, stamp });
    else found.maskedFiles.push(path);
  };
  const coverTarget = (path: string) => {
    const real = realpathIfAny(join(root, path));
    if (real === null || real === root || !isWithin(root, real)) return;
    const stats = statSync(real, { throwIfNoEntry: false });
    if (stats?.isFile()) coverFile(relative(root, real));
    if (stats?.isDirectory()) found.maskedFolders.push(relative(root, real));
  };

  walk('', true);
  const [files, folders] = [new Set(found.maskedFiles), new Set(found.maskedFolders)];
  const isWithinOne = isWithinOneOf(folders);
  return {
    ...found,
    outer: searchOuterGit(root, masks, masked),
    maskedFiles: [...files].filter((path) => !isWithinOne(path)),
    maskedFolders: [...folders].filter((path) => !path.includes('/') || !isWithinOne(dirname(path))),
  };
}

/** True if a root-relative path is in a set of paths, or inside one of them. */
export const isWithinOneOf = (paths: ReadonlySet<string>): ((path: string) => boolean) => {
  const isBeneath = (path: string): boolean =>
    paths.has(path) || (path.includes('/') && isBeneath(path.slice(0, path.lastIndexOf('/'))));
  return paths.size === 0 ? () => false : isBeneath;
};

/** Mounts that cover the masked paths of a scan; they must follow the mount of the tree. */
export function maskMounts(root: string, scan: TreeScan): Mount[] {
  const indexes = indexMounts(root, scan).filter(({ target }) => isWithin(root, target));
  return [...folderMounts(root, scan), ...scan.maskedFiles.map((path) => coverMount(join(root, path))), ...indexes];
}

const folderMounts = (root: string, { maskedFolders }: TreeScan): Mount[] =>
  maskedFolders.map((path) => ({ kind: 'empty-folder', target: join(root, path) }));

/** The mounts of {@link maskMounts} for an overlay. Its layer covers the files and adds `more`. */
export function maskOverlay(
  root: string,
  scan: TreeScan,
  more: readonly LayerFile[] = [],
): { readonly layer: Pick<OverlayMount, 'layer' | 'covers'>; readonly mounts: readonly Mount[] } {
  const covers = scan.maskedFiles.map((path): LayerFile => ({ path, text: coverText(join(root, path)) }));
  const indexes = maskedIndexes(root, scan).filter(({ path }) => isWithin(root, path));
  const files = [
    ...covers,
    ...more.filter(({ path }) => !scan.maskedFiles.includes(path)),
    ...indexes.map(({ path, text }) => ({ path: relative(root, path), text, mode: 0o644 })),
  ];
  return {
    layer: files.length > 0 ? { layer: maskLayer(root, files), covers: noticedCovers(root, covers) } : {},
    mounts: folderMounts(root, scan),
  };
}

/**
 * Copies of the indexes of all repositories whose work trees are in the root, in which git assumes the covered files to
 * be unchanged. Only repositories that track such files.
 */
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
    const text = assumeUnchanged(path, inTree);
    return text === null ? [] : [{ path, text }];
  });
  return [...new Map(indexes.map((index) => [index.path, index])).values()];
}

/**
 * The text of a masked file in a sandbox: empty, or only the format settings if its name is that of a git
 * configuration, because git needs these.
 */
const coverText = (path: string): string =>
  /\/config(?:\.worktree)?$/.test(path) ? withoutCredentials(readIfAny(path)) : '';

function coverMount(target: string): Mount {
  const text = coverText(target);
  return text === '' ? { kind: 'empty-file', target } : { kind: 'text-file', target, text };
}

/**
 * Mounts for the repository of a linked work tree or submodule. It is outside of the root, so it is mounted in
 * addition, read-only, without its credentials. Empty if the root contains its own repository.
 */
export const outerGitMounts = (root: string, scan: TreeScan): Mount[] =>
  scan.outer.flatMap(({ folder, hits }): Mount[] => [
    { kind: 'read-only', source: folder, target: folder },
    ...hits.map(({ path, entry }): Mount => {
      const target = join(folder, path);
      return entry.isDirectory() ? { kind: 'empty-folder', target } : coverMount(target);
    }),
    ...indexMounts(root, scan).filter(({ target }) => isWithin(folder, target)),
  ]);

/** Mounts that cover the indexes, if no layer of an overlay does. */
const indexMounts = (root: string, scan: TreeScan): Mount[] =>
  maskedIndexes(root, scan).map(({ path, text }) => ({ kind: 'text-file', target: path, text, isOpen: true }));

/**
 * Mounts the repository of a linked work tree or submodule as an overlay, in which git may write.
 *
 * @param bytes maximum size of what a command writes
 * @param objects mounts that cover the objects of masked files
 */
export function openOuterGit(
  { folder, repository, hits }: OuterGit,
  { root, scan }: { readonly root: string; readonly scan: TreeScan },
  bytes: number,
  objects: readonly Mount[],
): { readonly mounts: readonly Mount[]; readonly objects: readonly Mount[] } {
  const { sealed, layer, objects: opened } = openGit(folder, repository, objects);
  const indexes = maskedIndexes(root, scan).filter(({ path }) => isWithin(folder, path));
  const [folders, covered] = [true, false].map((isFolder) =>
    hits.filter((hit) => hit.entry.isDirectory() === isFolder),
  );
  const files = new Map(
    [
      ...layer,
      ...indexes.map(({ path, text }) => ({ path: relative(folder, path), text, mode: 0o644 })),
      ...covered!.map(({ path }) => ({ path, text: coverText(join(folder, path)) })),
    ].map((file): [string, LayerFile] => [file.path, file]),
  );
  const covers = files.size > 0 ? { layer: maskLayer(folder, [...files.values()]) } : {};
  return {
    objects: opened,
    mounts: [
      { kind: 'overlay', source: folder, target: folder, bytes, ...covers },
      ...sealed,
      ...folders!.map(({ path }): Mount => ({ kind: 'empty-folder', target: join(folder, path) })),
    ],
  };
}

/** Searches the git folders outside of the root. Their sockets are covered too. */
function searchOuterGit(root: string, masks: readonly string[], masked: (path: string) => boolean): OuterGit[] {
  const repository = findRepository(root);
  if (isStop(repository)) return [];
  const outer = [...new Set([repository.commonDir, repository.gitDir])].filter((folder) => !isWithin(root, folder));
  const topmost = outer.filter((folder) => !outer.some((other) => other !== folder && isWithin(other, folder)));
  return topmost.map((folder) => {
    const isHidden = (path: string, entry?: Dirent) => entry?.isSocket() === true || masked(`.git/${path}`);
    const { hits, repositories } = searchCached(folder, { path: '', names: 'paths' }, masks, isHidden);
    return { folder, repository, hits, repositories: repositories.filter((path) => path !== '') };
  });
}
