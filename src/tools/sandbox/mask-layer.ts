import { hash } from 'node:crypto';
import { chmodSync, chownSync, lstatSync, mkdirSync, rmSync, type Stats, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { LayoutError } from './layout.ts';
import { hiddenFolder } from './own-folder.ts';

/** A file of a layer: root-relative path, and what a command reads there. */
export interface LayerFile {
  readonly path: string;
  readonly text: string;
}

interface Layer {
  readonly key: string;
  readonly folder: string;
}

const layers = new Map<string, Layer[]>();
/** A command may still run on the layer before the one before. */
const LAYERS_KEPT = 3;

/**
 * A folder to lie over the repository in an overlay, with what stands in for its masked files. Unlike a mount such a file can be deleted with the folder
 * that it is in, as `npm ci` does, and there may be any number of them. Its folders look like the repository's own.
 *
 * @param root absolute path of the repository
 * @throws LayoutError if it cannot be written
 */
export function maskLayer(root: string, files: readonly LayerFile[]): string {
  const folders = new Map<string, Stats>();
  const note = (path: string): void => {
    if (folders.has(path)) return;
    if (path !== '') note(parentOf(path));
    folders.set(path, lstatSync(join(root, path)));
  };
  try {
    for (const { path } of files) note(parentOf(path));
    const looks = [...folders].map(([path, { mode, uid, gid }]) => [path, mode, uid, gid]);
    const key = hash('sha256', JSON.stringify([looks, files]), 'hex');
    const made = layers.get(root) ?? [];
    layers.set(root, made);
    const known = made.find((layer) => layer.key === key);
    if (known) return known.folder;
    const folder = hiddenFolder();
    made.push({ key, folder });
    for (const old of made.splice(0, Math.max(0, made.length - LAYERS_KEPT)))
      rmSync(old.folder, { recursive: true, force: true });
    for (const path of folders.keys()) mkdirSync(join(folder, path), { recursive: true });
    const { uid, gid } = lstatSync(root);
    for (const { path, text } of files) {
      writeFileSync(join(folder, path), text, { mode: 0o444 });
      own(join(folder, path), { uid, gid });
    }
    for (const [path, stats] of folders) {
      own(join(folder, path), stats);
      chmodSync(join(folder, path), stats.mode & 0o7777);
    }
    return folder;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    throw new LayoutError(`what covers the masked files cannot be put down: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

const parentOf = (path: string): string => (path.includes('/') ? dirname(path) : '');

function own(path: string, { uid, gid }: Pick<Stats, 'uid' | 'gid'>): void {
  if (process.getuid!() === 0) chownSync(path, uid, gid);
}
