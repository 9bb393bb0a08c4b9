import { hash } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync, rmSync, type Stats, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { LayoutError } from '../layout-error.ts';
import { makeHiddenFolder, setOwnerAsRoot, stampOfFiles } from './temp-folder.ts';

export interface MaskLayerFile {
  readonly path: string;
  readonly text: string | Buffer;
  /** Permissions of the file; default 0444. */
  readonly mode?: number;
}

interface Layer {
  readonly key: string;
  readonly folder: string;
  /** The result of `stampOfFiles` when the layer was complete. Another result now means that a folder was changed. */
  readonly stamp: string;
  usedAt: number;
}

const layers = new Map<string, Layer[]>();
/** Longer than any command runs, because a layer must not be removed while a command uses it. */
const KEPT_MS = 24 * 3_600_000;

/**
 * A folder that covers the repository in an overlay, with the replacements of masked files. Unlike a mounted file, a
 * replacement can be deleted with its folder, as `npm ci` does, and the number of replacements is not limited. The
 * folders of the layer have the modes and owners of the folders in the repository.
 * @param root absolute path of the repository
 * @throws LayoutError if it cannot be written
 */
export function makeMaskLayer(root: string, files: readonly MaskLayerFile[]): string {
  const folders = new Map<string, Stats>();
  const addFolder = (path: string): void => {
    if (folders.has(path)) return;
    if (path !== '') addFolder(parentOf(path));
    folders.set(path, lstatSync(join(root, path)));
  };
  try {
    for (const { path } of files) addFolder(parentOf(path));
    const attributes = [...folders].map(([path, { mode, uid, gid }]) => [path, mode, uid, gid]);
    const contents = files.map(({ path, text, mode }) => [path, mode ?? null, hash('sha256', text, 'hex')]);
    const key = hash('sha256', JSON.stringify([attributes, contents]), 'hex');
    const existing = layers.get(root) ?? [];
    const reusable = existing.find((layer) => layer.key === key);
    // A cleaner of temporary files may have removed parts of the layer.
    if (reusable && reusable.stamp === stampOfFiles(reusable.folder, folders.keys())) {
      reusable.usedAt = Date.now();
      return reusable.folder;
    }
    const folder = makeHiddenFolder();
    try {
      build(folder, root, folders, files);
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
    const isOld = ({ usedAt }: Layer) => usedAt < Date.now() - KEPT_MS;
    for (const { folder: old } of existing.filter(isOld)) rmSync(old, { recursive: true, force: true });
    const layer = { key, folder, stamp: stampOfFiles(folder, folders.keys()), usedAt: Date.now() };
    layers.set(root, [...existing.filter((each) => each !== reusable && !isOld(each)), layer]);
    return folder;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    throw new LayoutError(`cannot write the covers of masked files: ${(error as Error).message}`, { cause: error });
  }
}

function build(
  folder: string,
  root: string,
  folders: ReadonlyMap<string, Stats>,
  files: readonly MaskLayerFile[],
): void {
  for (const path of folders.keys()) mkdirSync(join(folder, path), { recursive: true });
  const { uid, gid } = lstatSync(root);
  for (const { path, text, mode = 0o444 } of files) {
    writeFileSync(join(folder, path), text, { mode });
    setOwnerAsRoot(join(folder, path), { uid, gid });
  }
  for (const [path, stats] of [...folders].reverse()) {
    setOwnerAsRoot(join(folder, path), stats);
    // hopgate needs these rights to remove the folder. In an overlay, its owner could change the mode anyway.
    chmodSync(join(folder, path), (stats.mode & 0o7777) | (process.getuid!() === 0 ? 0 : 0o700));
  }
}

const parentOf = (path: string): string => (path.includes('/') ? dirname(path) : '');
