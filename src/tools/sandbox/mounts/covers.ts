import { lstatSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { lstatIfAny } from '../../../base/files.ts';
import { getOrInsert } from '../../../base/get-or-insert.ts';
import type { OverlayMount } from './bwrap-arguments.ts';
import type { MaskLayerFile } from './mask-layer.ts';

/**
 * Access time, in seconds since 1970, that a new cover gets. If the cover has another access time later, a command has
 * read it.
 */
export const UNREAD_COVER_ACCESS_TIME = 1;
/** Maximum number of covers: each takes 0.2 ms per command. */
const MAX_COVERS = 100;

/**
 * The empty covers of masked files for which a read is detected. Those outside of `node_modules` come first.
 * @param root absolute path of the repository
 */
export function chooseWatchedCovers(root: string, covers: readonly MaskLayerFile[]): readonly string[] {
  const paths = covers.flatMap(({ path, text }) => (text.length === 0 && !isOfGit(path) ? [path] : []));
  const isPackage = (path: string) => path.split('/').includes('node_modules');
  return [...paths.filter((path) => !isPackage(path)), ...paths.filter(isPackage)]
    .slice(0, MAX_COVERS)
    .filter((path) => keepsMode(dirname(join(root, path))));
}

/**
 * Maps each cover to true if a command read it, by its access time. Covers that the command wrote or moved are left
 * out. An open without a read does not count.
 * @param upper the upper folder of the command's overlay; no link in it is followed
 */
export function findCoversThatWereRead(
  { layer, covers = [] }: Pick<OverlayMount, 'layer' | 'covers'>,
  upper: string,
): ReadonlyMap<string, boolean> {
  const folders = new Map([['.', true]]);
  const isFolder = (path: string): boolean => {
    return getOrInsert(
      folders,
      path,
      () => isFolder(dirname(path)) && lstatIfAny(join(upper, path))?.isDirectory() === true,
    );
  };
  return new Map(
    covers.flatMap((path): [string, boolean][] => {
      const now = isFolder(dirname(path)) ? lstatIfAny(join(upper, path)) : undefined;
      const isUnchanged = now?.size === 0 && now.mtimeMs === lstatIfAny(join(layer!, path))?.mtimeMs;
      return isUnchanged ? [[path, now.atimeMs > UNREAD_COVER_ACCESS_TIME * 1000]] : [];
    }),
  );
}

const isOfGit = (path: string): boolean => path.split('/').includes('.git');

/** True if the overlay keeps the folder's mode; else a copied-up folder would be reported as a change. */
const keepsMode = (folder: string): boolean => process.getuid!() === 0 || (lstatSync(folder).mode & 0o700) === 0o700;
