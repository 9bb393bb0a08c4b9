import { type Dirent, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { readIfAny, realpathIfAny } from '../../../base/files.ts';
import { isWithin } from '../../../base/paths.ts';
import { isGitCredential, isProtected, maskMatcher } from '../../../gate/scope/masks.ts';
import { findRepository } from '../../git/repository.ts';
import { assumeUnchanged } from '../../git-objects/git-index.ts';
import { isGitFolder, isGitPlace, isObjectStore, SKIPPED_IN_GIT } from '../../git-place.ts';
import { isStop } from '../../workspace/outcome.ts';
import { LayoutError } from '../layout-error.ts';
import type { Mount } from '../mount.ts';
import { formatOnly } from './git-format.ts';
import { type LayerFile, maskLayer } from './mask-layer.ts';
import { maskedInModules } from './modules.ts';
import { isNonUtf8Name, refuseMaskedNonUtf8 } from './non-utf8-names.ts';
import { hasOwnGit } from './open-git.ts';
import { type FolderSeen, folderStamp, isUnlistable, readFolder } from './read-folder.ts';

/** The paths of a repository that the sandbox treats specially, all root-relative. */
export interface TreeScan {
  readonly maskedFiles: readonly string[];
  readonly maskedFolders: readonly string[];
  /** Only the topmost paths: the contents of a protected folder are not listed. */
  readonly protectedPaths: readonly string[];
  /** Folders that look like git repositories, except those in `node_modules`. */
  readonly repositories: readonly string[];
  /** Folders that look like git object stores and belong to none of these repositories. */
  readonly stores: readonly string[];
  /** `.git` files, which name the repository of their folder. */
  readonly gitFiles: readonly string[];
  /** All folders that were read. */
  readonly folders: readonly FolderSeen[];
}

/** Maximum number of entries; beyond it the walk would take longer than the command. */
const MAX_ENTRIES = 400_000;

/**
 * Finds the masked and the protected paths of a repository. In `node_modules` it only searches masked paths and does
 * not read unchanged folders again. In a git folder of any name it only reads the places that hold credentials.
 *
 * @throws LayoutError if the tree is too large to walk, because masked files that are not found would not be covered.
 */
export function scanTree(root: string, masks: readonly string[], maxEntries = MAX_ENTRIES): TreeScan {
  const masked = maskMatcher(masks);
  const found = {
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
    const isGit = isGitPlace(join(root, folder), entries);
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
      // For a link, bubblewrap would mount the target.
      if (isOpen && !free && !entry.isSymbolicLink()) found.protectedPaths.push(path);
      if (entry.name === '.git' && entry.isFile()) found.gitFiles.push(path);
      if (!entry.isDirectory() || (isGit && SKIPPED_IN_GIT.has(entry.name))) continue;
      if (entry.name === 'node_modules')
        for (const hit of maskedInModules(root, path, masks, masked, (seen) => found.folders.push(seen)))
          cover(hit.path, hit.entry);
      else walk(path, free);
    }
  };
  const cover = (path: string, entry: Pick<Dirent, 'isDirectory' | 'isSymbolicLink'>) => {
    if (entry.isDirectory()) found.maskedFolders.push(path);
    // A link itself is harmless: a target inside the tree is matched at its own path. If only the link's name is
    // masked, the target is covered.
    else if (entry.isSymbolicLink()) coverTarget(path);
    else found.maskedFiles.push(path);
  };
  const coverTarget = (path: string) => {
    const real = realpathIfAny(join(root, path));
    if (real === null || real === root || !isWithin(root, real)) return;
    const stats = statSync(real, { throwIfNoEntry: false });
    if (stats?.isFile()) found.maskedFiles.push(relative(root, real));
    if (stats?.isDirectory()) found.maskedFolders.push(relative(root, real));
  };

  walk('', true);
  const [files, folders] = [new Set(found.maskedFiles), new Set(found.maskedFolders)];
  const isWithinOne = isWithinOneOf(folders);
  return {
    ...found,
    maskedFiles: [...files].filter((path) => !isWithinOne(path)),
    maskedFolders: [...folders].filter((path) => !path.includes('/') || !isWithinOne(dirname(path))),
  };
}

/** True if a root-relative path is one of these or inside one of them. */
export const isWithinOneOf = (paths: ReadonlySet<string>): ((path: string) => boolean) => {
  const isBeneath = (path: string): boolean =>
    paths.has(path) || (path.includes('/') && isBeneath(path.slice(0, path.lastIndexOf('/'))));
  return paths.size === 0 ? () => false : isBeneath;
};

/** Mounts that cover the masked paths of a scan; they must follow the mount of the tree. */
export function maskMounts(root: string, scan: TreeScan): Mount[] {
  return [
    ...scan.maskedFolders.map((path): Mount => ({ kind: 'empty-folder', target: join(root, path) })),
    ...scan.maskedFiles.map((path) => coverMount(join(root, path))),
  ];
}

/**
 * The same for an overlay, whose layer covers the files and contains `more`. Git assumes the covered files to be
 * unchanged.
 */
export function maskOverlay(
  root: string,
  scan: TreeScan,
  more: readonly LayerFile[] = [],
): { readonly layer: { readonly layer?: string }; readonly mounts: readonly Mount[] } {
  const covers = scan.maskedFiles.map((path): LayerFile => ({ path, text: coverText(join(root, path)) }));
  const masked = [...scan.maskedFiles, ...scan.maskedFolders];
  const index = hasOwnGit(root) ? assumeUnchanged(join(root, '.git/index'), masked) : null;
  const files = [
    ...covers,
    ...more.filter(({ path }) => !scan.maskedFiles.includes(path)),
    ...(index === null ? [] : [{ path: '.git/index', text: index, mode: 0o644 }]),
  ];
  return {
    layer: files.length > 0 ? { layer: maskLayer(root, files) } : {},
    mounts: maskMounts(root, { ...scan, maskedFiles: [] }),
  };
}

/**
 * The text of a masked file in a sandbox: empty, or only the format settings if its name is that of a git
 * configuration, because git needs these.
 */
const coverText = (path: string): string => (/\/config(?:\.worktree)?$/.test(path) ? formatOnly(readIfAny(path)) : '');

function coverMount(target: string): Mount {
  const text = coverText(target);
  return text === '' ? { kind: 'empty-file', target } : { kind: 'text-file', target, text };
}

/**
 * Mounts for the repository of a linked work tree or submodule. It is outside of the root, so it is mounted in
 * addition, read-only, without its credentials. Empty if the root contains its own repository.
 */
export function outerGitMounts(root: string, masks: readonly string[]): Mount[] {
  const repository = findRepository(root);
  if (isStop(repository)) return [];
  const outer = [...new Set([repository.commonDir, repository.gitDir])].filter((folder) => !isWithin(root, folder));
  const topmost = outer.filter((folder) => !outer.some((other) => other !== folder && isWithin(other, folder)));
  return topmost.flatMap((folder): Mount[] => [
    { kind: 'read-only', source: folder, target: folder },
    ...maskedInGit(folder, masks).map((path) => coverMount(join(folder, path))),
  ]);
}

/** The files of a git folder that are masked, and its sockets. */
function maskedInGit(folder: string, masks: readonly string[]): string[] {
  const masked = maskMatcher(masks);
  const found: string[] = [];
  const walk = (below: string): void => {
    const entries = readFolder(join(folder, below));
    const isGit = isGitPlace(join(folder, below), entries);
    for (const entry of entries) {
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory()) {
        if (!isGit || !SKIPPED_IN_GIT.has(entry.name)) walk(path);
      } else if (entry.isSocket() || masked(`.git/${path}`)) found.push(path);
    }
  };
  walk('');
  return found;
}

/** True for the files that control git, if the root itself is a git folder. */
const isGitOwn = (name: string) => isGitCredential(name) || SKIPPED_IN_GIT.has(name);
