import { existsSync, rmSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { realpathIfAny } from '../../base/files.ts';
import { getOrInsert } from '../../base/get-or-insert.ts';
import { isPathWithin } from '../../base/paths.ts';
import { excerpt, splitWords } from '../../base/text.ts';
import { compileMasks } from '../../gate/scope/masks.ts';
import type { SandboxMount } from '../sandbox/mount.ts';
import type { TreeScan } from '../sandbox/mounts/scan-tree.ts';
import { makeHiddenFolder } from '../sandbox/mounts/temp-folder.ts';
import { type Sandbox, SandboxError } from '../sandbox/sandbox.ts';
import { findGitFolders, foldersWithGitHead, type GitFolder } from './git-folder.ts';
import { type GitFailure, listGitObjects, makeSandboxedGit } from './list-objects.ts';
import { copyMaskedObjects, isObjectCopyComplete, type MaskedObjectCopy } from './masked-object-copy.ts';
import { repositoryFingerprint } from './repository-fingerprint.ts';
import { findGitAlternates, findObjectLinkTargets, listStoredObjects, realPathWithin } from './stored-objects.ts';

interface MaskedObjectsRequest {
  /** Absolute real path of the repository. */
  readonly root: string;
  readonly masks: readonly string[];
  readonly toolchains: readonly string[];
  readonly scan: Pick<TreeScan, 'repositories' | 'gitFiles' | 'stores' | 'outer'>;
}

/** The git objects that a command sees. */
interface MaskedObjects {
  /** Mounts that must follow the mounts of the repositories. */
  readonly mounts: readonly SandboxMount[];
  /**
   * Folders whose objects are all hidden, because the masked objects are unknown. Paths are root-relative, or absolute
   * if the folder is outside the root.
   */
  readonly withoutObjects: readonly string[];
  /** The reason for each of `withoutObjects`. */
  readonly problems: readonly string[];
}

interface CopiedObjects extends MaskedObjectCopy {
  /** The repository's alternates: other folders with objects. */
  readonly elsewhere: readonly string[];
}

/** The objects that are shown: a copy, all of them, or none, because git failed. */
type VisibleObjects = CopiedObjects | 'all' | GitFailure;
const isCopy = (objects: VisibleObjects | null | undefined): objects is CopiedObjects =>
  typeof objects === 'object' && objects !== null && !('problem' in objects);

interface CachedCopy {
  stamp: string;
  copy: Promise<VisibleObjects>;
  readonly folders: string[];
}

/** Number of kept copies: a running command may still use an older one. */
const COPIES_KEPT = 3;
const copiesBySandbox = new WeakMap<Sandbox, Map<string, CachedCopy>>();

/**
 * Hides git's stored contents of masked files from commands: in the sandbox their blobs are empty, and unreachable
 * objects are missing. A repository is searched again only if it has changed. A repository that git cannot search
 * within a time limit shows no objects.
 */
export async function hideMaskedObjects(sandbox: Sandbox, request: MaskedObjectsRequest): Promise<MaskedObjects> {
  const { root, masks } = request;
  if (masks.length === 0) return { mounts: [], withoutObjects: [], problems: [] };
  const mounts: SandboxMount[] = [];
  const withoutObjects: string[] = [];
  const problems: string[] = [];
  const folders = findGitFolders(root, request.scan);
  const borrowedStores = new Set<string>();
  const seen = [root, ...folders.flatMap(({ commonDir, gitDir }) => [commonDir, gitDir])];
  const cover = coverOf(seen);
  // Git folders that a mount replaces with all of their content.
  const replaced: string[] = [];
  const isReplaced = (path: string) => replaced.some((objects) => isPathWithin(objects, path));
  const objectFolders = () => folders.map(({ commonDir }) => realpathIfAny(join(commonDir, 'objects')));
  for (const folder of folders) {
    const objects = join(folder.commonDir, 'objects');
    if (isReplaced(folder.commonDir)) continue;
    const copy = await copyOf(sandbox, request, folder, seen);
    if (copy === 'all') for (const path of foldersElsewhere(objects)) borrowedStores.add(path);
    else {
      replaced.push(objects);
      if (isCopy(copy)) mounts.push(...copy.mounts);
      else {
        mounts.push(...cover(objects));
        withoutObjects.push(isPathWithin(root, folder.commonDir) ? relative(root, folder.commonDir) : folder.commonDir);
        problems.push(copy.problem);
      }
      for (const path of isCopy(copy) ? copy.elsewhere : foldersElsewhere(objects))
        if (!objectFolders().includes(path)) mounts.push(...cover(path));
    }
    const copies = foldersWithGitHead(folder).flatMap((place) =>
      OTHER_CONTENTS.flatMap((name) => cover(join(place, name))),
    );
    mounts.push(...copies);
    replaced.push(...copies.map(({ target }) => target));
  }
  // The paths of objects in an object store are known only if a repository that borrows them was searched.
  const stores = request.scan.stores.map((path) => ({ path, place: join(root, path) }));
  for (const { path, place } of stores.filter((each) => !borrowedStores.has(each.place) && !isReplaced(each.place))) {
    mounts.push({ kind: 'empty-folder', target: place });
    withoutObjects.push(path);
    problems.push('these objects belong to no repository');
  }
  return { mounts, withoutObjects, problems };
}

const foldersElsewhere = (objects: string): string[] => [
  ...findGitAlternates(objects),
  ...findObjectLinkTargets(objects),
];

async function copyOf(
  sandbox: Sandbox,
  request: MaskedObjectsRequest,
  folder: GitFolder,
  seen: readonly string[],
): CachedCopy['copy'] {
  const copies = getOrInsert(copiesBySandbox, sandbox, () => new Map<string, CachedCopy>());
  const key = JSON.stringify([folder, request.root, request.masks]);
  const stamp = repositoryFingerprint(folder);
  const cached = copies.get(key);
  if (cached?.stamp === stamp) {
    const copy = await cached.copy;
    if (!isCopy(copy) || isObjectCopyComplete(copy)) return copy;
    if (copies.get(key) !== cached) return copyOf(sandbox, request, folder, seen);
  }
  const fresh: CachedCopy = {
    stamp,
    folders: cached?.folders ?? [],
    copy: Promise.resolve({ problem: 'its objects were not read yet' }),
  };
  fresh.copy = makeCopy(sandbox, request, folder, seen, fresh, cached?.copy ?? null);
  copies.set(key, fresh);
  // After a failure, the next call tries again.
  const forget = () => {
    if (copies.get(key) === fresh) fresh.stamp = '';
  };
  fresh.copy.then((found) => typeof found === 'object' && !isCopy(found) && forget(), forget);
  return fresh.copy;
}

async function makeCopy(
  sandbox: Sandbox,
  { root, masks, toolchains }: MaskedObjectsRequest,
  folder: GitFolder,
  seen: readonly string[],
  entry: CachedCopy,
  last: CachedCopy['copy'] | null,
): Promise<VisibleObjects> {
  const lastCopy = await last?.catch(() => null);
  let newFolder: string | null = null;
  try {
    const git = makeSandboxedGit(sandbox, root, toolchains, folder);
    const objects = realPathWithin(seen, join(folder.commonDir, 'objects'));
    if (objects === null) return { problem: 'its objects are in a folder outside of the repository' };
    const list = await listGitObjects(git, folder, compileMasks(masks));
    if ('problem' in list) return list;
    const stored = listStoredObjects(objects, seen);
    if (list.masked.size + list.unreachable.size === 0 && !stored.hasLeftovers) return 'all';
    newFolder = makeHiddenFolder();
    const previous = isCopy(lastCopy) && isObjectCopyComplete(lastCopy) ? lastCopy : null;
    const hasAlternates = findGitAlternates(objects).length > 0;
    const copy = await copyMaskedObjects({ git, objects, list, stored, folder: newFolder, previous, hasAlternates });
    if ('problem' in copy) return copy;
    const found = { ...copy, elsewhere: foldersElsewhere(objects) };
    entry.folders.push(newFolder);
    newFolder = null;
    for (const old of entry.folders.splice(0, Math.max(0, entry.folders.length - COPIES_KEPT)))
      rmSync(old, { recursive: true, force: true });
    return found;
  } catch (error) {
    if (error instanceof SandboxError || (error as NodeJS.ErrnoException).code !== undefined)
      return { problem: excerpt((error as Error).message, 200) };
    throw error;
  } finally {
    if (newFolder !== null) rmSync(newFolder, { recursive: true, force: true });
  }
}

/** Files and folders with contents outside of git's objects: recovered files, conflicts, patches, texts. */
const OTHER_CONTENTS: readonly string[] = splitWords(`
  lost-found rr-cache rebase-apply lfs annex COMMIT_EDITMSG ADD_EDIT.patch addp-hunk-edit.diff rebase-merge/patch
`);

/** Mounts an empty file or folder over the real target of a path, if that is in a visible folder (`seen`). */
function coverOf(seen: readonly string[]): (path: string) => SandboxMount[] {
  return (path) => {
    // Most of these files do not exist; `existsSync` is cheaper than a thrown ENOENT.
    const target = existsSync(path) ? realpathIfAny(path) : null;
    if (target === null || !seen.some((folder) => isPathWithin(folder, target))) return [];
    return [{ kind: statSync(target).isDirectory() ? 'empty-folder' : 'empty-file', target }];
  };
}
