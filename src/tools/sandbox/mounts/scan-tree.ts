import { type Dirent, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { realpathIfAny } from '../../../base/files.ts';
import { isPathWithin } from '../../../base/paths.ts';
import { compileMasks, isGitCredential, isWriteProtected } from '../../../gate/scope/masks.ts';
import { findRepository } from '../../git/repository.ts';
import { isConfiguredGitFolder, isGitFolder, isGitObjectStore, isNameOfGitItself } from '../../git-paths.ts';
import { isStop } from '../../workspace/tool-stop.ts';
import { LayoutError } from '../layout-error.ts';
import { fileStateStamp, makeCertificateTest } from './certificates.ts';
import { isNonUtf8Name, refuseMaskedNonUtf8 } from './non-utf8-names.ts';
import { folderStateStamp, isUnlistableFolder, readFolder } from './read-folder.ts';
import {
  type MaskedSearchResult,
  type MutableLists,
  searchMaskedPaths,
  startOfCachedSearch,
} from './search-masked-paths.ts';
import type { RepositoryFolders } from './writable-git.ts';

/** The paths of a repository that the sandbox treats specially, all root-relative. */
export interface TreeScan extends Omit<MaskedSearchResult, 'hits'> {
  readonly maskedFiles: readonly string[];
  readonly maskedFolders: readonly string[];
  /** Files that commands see although a mask matches them, because they hold only certificates; with their state. */
  readonly certificates: readonly { readonly path: string; readonly stamp: string }[];
  /** Only the topmost paths: the contents of a protected folder are not listed. */
  readonly protectedPaths: readonly string[];
  /** Git folders of the root that lie outside of it. */
  readonly outer: readonly OuterGitFolder[];
}

export interface OuterGitFolder extends Pick<MaskedSearchResult, 'hits' | 'repositories'> {
  /** Absolute path; the paths of `hits` and `repositories` are relative to it. */
  readonly folder: string;
  readonly repository: RepositoryFolders;
}

/** Maximum number of entries; beyond it the walk would take longer than the command. */
const MAX_ENTRIES = 400_000;

/**
 * Finds the masked and the protected paths of a repository. In `node_modules` and in git's folders of objects and refs,
 * only masked paths and repositories are searched, and unchanged folders are not read again.
 * @throws LayoutError if the tree is too large to walk, because masked files that are not found would not be covered.
 */
export function scanTree(root: string, masks: readonly string[], maxEntries = MAX_ENTRIES): TreeScan {
  const masked = compileMasks(masks);
  const isCertificate = makeCertificateTest(root, masks);
  const found: MutableLists<Omit<TreeScan, 'outer'>> = {
    certificates: [],
    maskedFiles: [],
    maskedFolders: [],
    protectedPaths: [],
    repositories: [],
    stores: [],
    gitFiles: [],
    folders: [],
  };
  let entriesLeft = maxEntries;

  const walk = (folder: string, isFree: boolean): void => {
    found.folders.push({ path: folder, stamp: folderStateStamp(join(root, folder)) });
    const entries = readFolder(join(root, folder));
    if (entries.length === 0 && isUnlistableFolder(join(root, folder))) {
      found.maskedFolders.push(folder);
      return;
    }
    const isGit = isConfiguredGitFolder(join(root, folder), entries);
    if (isGit && isGitFolder(entries)) found.repositories.push(folder);
    else if (isGitObjectStore(entries)) found.stores.push(folder);
    const isOpen = isFree && !(isGit && folder !== '');
    if (isFree && !isOpen) found.protectedPaths.push(folder);
    for (const entry of entries) {
      entriesLeft -= 1;
      if (entriesLeft < 0)
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
      const free = isOpen && !isWriteProtected(path) && !(isGit && isNameOfGitItself(entry.name));
      // Links are left out, because bubblewrap would mount their target.
      if (isOpen && !free && !entry.isSymbolicLink()) found.protectedPaths.push(path);
      if (entry.name === '.git' && entry.isFile()) found.gitFiles.push(path);
      if (!entry.isDirectory()) continue;
      const cached = startOfCachedSearch(path, entry.name, isGit);
      if (cached) addFound(searchMaskedPaths(root, cached, masks, masked));
      else walk(path, free);
    }
  };
  const addFound = ({ hits, repositories, stores, gitFiles, folders }: MaskedSearchResult) => {
    for (const hit of hits) cover(hit.path, hit.entry);
    // Added one by one, because the list may be too long for spread arguments.
    for (const each of folders) found.folders.push(each);
    found.repositories.push(...repositories);
    found.stores.push(...stores);
    found.gitFiles.push(...gitFiles);
  };
  const cover = (path: string, entry: Pick<Dirent, 'isDirectory' | 'isSymbolicLink'>) => {
    if (entry.isDirectory()) found.maskedFolders.push(path);
    // A link's target inside the tree is matched by its own path. If only the link is masked, the target is covered.
    else if (entry.isSymbolicLink()) coverTarget(path);
    else coverFile(path);
  };
  const coverFile = (path: string) => {
    // The state is read before the content, so that a later change is detected.
    const stamp = fileStateStamp(join(root, path));
    if (isCertificate(path)) found.certificates.push({ path, stamp });
    else found.maskedFiles.push(path);
  };
  const coverTarget = (path: string) => {
    const real = realpathIfAny(join(root, path));
    if (real === null || real === root || !isPathWithin(root, real)) return;
    const stats = statSync(real, { throwIfNoEntry: false });
    if (stats?.isFile()) coverFile(relative(root, real));
    if (stats?.isDirectory()) found.maskedFolders.push(relative(root, real));
  };

  walk('', true);
  const [files, folders] = [new Set(found.maskedFiles), new Set(found.maskedFolders)];
  const isWithinOne = pathSetMatcher(folders);
  return {
    ...found,
    outer: searchOuterGit(root, masks, masked),
    maskedFiles: [...files].filter((path) => !isWithinOne(path)),
    maskedFolders: [...folders].filter((path) => !path.includes('/') || !isWithinOne(dirname(path))),
  };
}

/** True if a root-relative path is in a set of paths, or inside one of them. */
export const pathSetMatcher = (paths: ReadonlySet<string>): ((path: string) => boolean) => {
  const isBeneath = (path: string): boolean =>
    paths.has(path) || (path.includes('/') && isBeneath(path.slice(0, path.lastIndexOf('/'))));
  return paths.size === 0 ? () => false : isBeneath;
};

/** Searches the git folders outside of the root. Their sockets are covered too. */
function searchOuterGit(root: string, masks: readonly string[], masked: (path: string) => boolean): OuterGitFolder[] {
  const repository = findRepository(root);
  if (isStop(repository)) return [];
  const outer = [...new Set([repository.commonDir, repository.gitDir])].filter((folder) => !isPathWithin(root, folder));
  const topmost = outer.filter((folder) => !outer.some((other) => other !== folder && isPathWithin(other, folder)));
  return topmost.map((folder) => {
    const isHidden = (path: string, entry?: Dirent) => entry?.isSocket() === true || masked(`.git/${path}`);
    const { hits, repositories } = searchMaskedPaths(folder, { path: '', names: 'paths' }, masks, isHidden);
    return { folder, repository, hits, repositories: repositories.filter((path) => path !== '') };
  });
}
