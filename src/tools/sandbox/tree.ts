import { type Dirent, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isProtected, maskMatcher } from '../masks.ts';
import { LayoutError, type Mount } from './layout.ts';
import { maskedInModules } from './modules.ts';
import { readFolder } from './read-folder.ts';

/** What a walk of the repository found that the sandbox has to treat specially. Root-relative paths. */
export interface TreeScan {
  readonly maskedFiles: readonly string[];
  readonly maskedFolders: readonly string[];
  /** The topmost of each: nothing beneath a protected folder is listed. */
  readonly protectedPaths: readonly string[];
}

/** More entries than this and a command would wait for the walk longer than for itself. */
const MAX_ENTRIES = 400_000;

/**
 * Finds the masked and the protected paths of a repository. In `node_modules` only masked ones are looked for, and folders that have not changed
 * are not read again; of `.git` only the places where it keeps credentials are read.
 *
 * @throws LayoutError if the tree is too large to walk: masks that could not be found would not be covered.
 */
export function scanTree(root: string, masks: readonly string[], maxEntries = MAX_ENTRIES): TreeScan {
  const masked = maskMatcher(masks);
  const found = { maskedFiles: [] as string[], maskedFolders: [] as string[], protectedPaths: [] as string[] };
  let left = maxEntries;

  const walk = (folder: string, isFree: boolean): void => {
    for (const entry of readFolder(join(root, folder))) {
      left -= 1;
      if (left < 0)
        throw new LayoutError(
          `${root} holds more than ${maxEntries} files outside node_modules; start hopgate in a smaller folder of it`,
        );
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (masked(path)) {
        cover(path, entry);
        continue;
      }
      const free = isFree && !isProtected(path);
      if (isFree && !free) found.protectedPaths.push(path);
      if (!entry.isDirectory() || isGitObjects(path)) continue;
      if (entry.name === 'node_modules')
        for (const hit of maskedInModules(root, path, masks, masked)) cover(hit.path, hit.entry);
      else walk(path, free);
    }
  };
  const cover = (path: string, entry: Dirent) => {
    if (entry.isDirectory()) found.maskedFolders.push(path);
    // A link is harmless in itself: where it leads to inside the tree it is matched there. Unless only its own name is masked.
    else if (entry.isSymbolicLink()) coverTarget(path);
    else found.maskedFiles.push(path);
  };
  const coverTarget = (path: string) => {
    const target = join(path, '..', readlinkSync(join(root, path)));
    if (target.startsWith('..') || readlinkSync(join(root, path)).startsWith('/')) return;
    const stats = statSync(join(root, target), { throwIfNoEntry: false });
    if (stats?.isFile()) found.maskedFiles.push(target);
    if (stats?.isDirectory()) found.maskedFolders.push(target);
  };

  walk('', true);
  return found;
}

/** Mounts that cover what a scan found masked; they go on top of the tree's own mount. */
export function maskMounts(root: string, scan: TreeScan): Mount[] {
  return [
    ...scan.maskedFolders.map((path): Mount => ({ kind: 'empty-folder', target: join(root, path) })),
    ...scan.maskedFiles.map((path): Mount => ({ kind: 'empty-file', target: join(root, path) })),
  ];
}

const isGitObjects = (path: string) => /(^|\/)\.git\/(.*\/)?(objects|refs|logs|hooks|info|lfs)$/.test(path);
