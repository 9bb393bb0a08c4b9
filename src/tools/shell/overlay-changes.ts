import { accessSync, constants, lstatSync, readdirSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { isTooDeep } from '../sandbox/mounts/read-folder.ts';
import type { OverlayView } from '../sandbox/sandbox.ts';

/** One thing that a command did to the tree, as its overlay shows it. Root-relative path. */
export type Change =
  | { readonly kind: 'file'; readonly path: string; readonly upper: Stats; readonly lower: Stats | null }
  | { readonly kind: 'folder'; readonly path: string; readonly upper: Stats }
  | { readonly kind: 'delete'; readonly path: string; readonly lower: Stats }
  /** A link, FIFO, socket or device. */
  | { readonly kind: 'special'; readonly path: string; readonly upper: Stats }
  /**
   * What cannot be brought over, whatever it is: a name that is not UTF-8; a file or folder that its own permissions hide from us, or that lies deeper
   * than a path can say; other permissions of a folder that was there.
   */
  | { readonly kind: 'unnameable' | 'unreadable' | 'too-deep' | 'permissions'; readonly path: string };

/**
 * Lists what the overlay changed, folder by folder; a folder that is deleted is listed once. Deletions are found by what the merged tree does
 * not show any more, so that whiteouts and opaque folders come to the same thing.
 *
 * @param descend whether to look into a new folder, which otherwise is listed alone
 */
export function overlayChanges(root: string, view: OverlayView, descend: (folder: string) => boolean): Change[] {
  const changes: Change[] = [];
  const walk = (folder: string): void => {
    const lower = lookAt(join(root, folder));
    if (lower?.isDirectory() && isReadable(join(root, folder), FOLDER)) listDeleted(folder);
    for (const name of readdirSync(join(view.upper, folder)).sort()) {
      const path = folder === '' ? name : `${folder}/${name}`;
      if ([root, view.upper, view.merged].some((base) => isTooDeep(join(base, path)))) {
        changes.push({ kind: 'too-deep', path });
        continue;
      }
      const upper = lookAt(join(view.upper, path));
      if (upper === null) {
        changes.push({ kind: 'unnameable', path });
        continue;
      }
      if (upper.isCharacterDevice() && upper.rdev === 0) continue;
      const before = lower?.isDirectory() ? lookAt(join(root, path)) : null;
      if (before && before.isDirectory() !== upper.isDirectory()) changes.push({ kind: 'delete', path, lower: before });
      if (upper.isDirectory() && !isReadable(join(view.upper, path), FOLDER))
        changes.push({ kind: 'unreadable', path });
      else if (upper.isDirectory()) {
        const known = before?.isDirectory() === true;
        if (!known) changes.push({ kind: 'folder', path, upper });
        else if (upper.mode !== before.mode) changes.push({ kind: 'permissions', path });
        if (known || descend(path)) walk(path);
      } else if (upper.isFile() && !isReadable(join(view.upper, path), FILE))
        changes.push({ kind: 'unreadable', path });
      else if (upper.isFile())
        changes.push({ kind: 'file', path, upper, lower: before?.isDirectory() ? null : before });
      else changes.push({ kind: 'special', path, upper });
    }
  };
  const listDeleted = (folder: string): void => {
    const kept = new Set(readdirSync(join(view.merged, folder)));
    for (const name of readdirSync(join(root, folder)).sort()) {
      if (kept.has(name)) continue;
      const path = folder === '' ? name : `${folder}/${name}`;
      const lower = isTooDeep(join(root, path)) ? null : lookAt(join(root, path));
      if (lower) changes.push({ kind: 'delete', path, lower });
    }
  };
  if (isReadable(view.upper, FOLDER)) walk('');
  else changes.push({ kind: 'unreadable', path: '.' });
  return changes;
}

const FILE = constants.R_OK;
const FOLDER = constants.R_OK | constants.X_OK;

/** Whether we may read it: the permissions that the command gave it hold for us, too, unless we are root. */
function isReadable(path: string, how: number): boolean {
  try {
    accessSync(path, how);
    return true;
  } catch {
    return false;
  }
}

const lookAt = (path: string): Stats | null => lstatSync(path, { throwIfNoEntry: false }) ?? null;
