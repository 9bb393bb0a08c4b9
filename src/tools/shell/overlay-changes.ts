import { constants, readdirSync, readlinkSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { isAccessible, lstatIfAny } from '../../base/files.ts';
import { isPathTooLong } from '../sandbox/mounts/read-folder.ts';
import type { OverlayWrites } from '../sandbox/sandbox.ts';

/** One change of the tree by a command, read from its overlay. The path is root-relative. */
export type OverlayChange =
  | { readonly kind: 'file'; readonly path: string; readonly upper: Stats; readonly lower: Stats | null }
  | { readonly kind: 'folder'; readonly path: string; readonly upper: Stats }
  | { readonly kind: 'delete'; readonly path: string; readonly lower: Stats }
  | {
      readonly kind: 'link';
      readonly path: string;
      readonly upper: Stats;
      readonly lower: Stats | null;
      readonly target: string;
    }
  /** A FIFO, socket or device. */
  | { readonly kind: 'special'; readonly path: string; readonly upper: Stats }
  /** A change that is never applied: not UTF-8, unreadable, a too long path, or a folder's permissions. */
  | { readonly kind: 'unnameable' | 'unreadable' | 'too-deep' | 'permissions'; readonly path: string };

/**
 * Lists the changes of the overlay, folder by folder; a deleted folder is listed once. A deletion is a path that the
 * merged tree no longer shows, so whiteouts and opaque folders need no separate code.
 * @param descend true to enter a new folder; otherwise only the folder itself is listed
 */
export function listOverlayChanges(
  root: string,
  view: OverlayWrites,
  descend: (folder: string) => boolean,
): OverlayChange[] {
  const changes: OverlayChange[] = [];
  const walk = (folder: string): void => {
    const lower = lookAt(join(root, folder));
    if (lower?.isDirectory() && isAccessible(join(root, folder), FOLDER)) listDeleted(folder);
    for (const name of readdirSync(join(view.upper, folder)).sort()) {
      const path = folder === '' ? name : `${folder}/${name}`;
      if ([root, view.upper, view.merged].some((base) => isPathTooLong(join(base, path)))) {
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
      if (upper.isDirectory() && !isAccessible(join(view.upper, path), FOLDER))
        changes.push({ kind: 'unreadable', path });
      else if (upper.isDirectory()) {
        const existed = before?.isDirectory() === true;
        if (!existed) changes.push({ kind: 'folder', path, upper });
        else if (upper.mode !== before.mode) changes.push({ kind: 'permissions', path });
        if (existed || descend(path)) walk(path);
      } else if (upper.isFile() && !isAccessible(join(view.upper, path), FILE))
        changes.push({ kind: 'unreadable', path });
      else if (upper.isFile())
        changes.push({ kind: 'file', path, upper, lower: before?.isDirectory() ? null : before });
      else if (upper.isSymbolicLink()) {
        const target = readlinkSync(join(view.upper, path));
        changes.push({ kind: 'link', path, upper, target, lower: before?.isDirectory() ? null : before });
      } else changes.push({ kind: 'special', path, upper });
    }
  };
  const listDeleted = (folder: string): void => {
    const kept = new Set(readdirSync(join(view.merged, folder)));
    for (const name of readdirSync(join(root, folder)).sort()) {
      if (kept.has(name)) continue;
      const path = folder === '' ? name : `${folder}/${name}`;
      const lower = isPathTooLong(join(root, path)) ? null : lookAt(join(root, path));
      if (lower) changes.push({ kind: 'delete', path, lower });
    }
  };
  if (isAccessible(view.upper, FOLDER)) walk('');
  else changes.push({ kind: 'unreadable', path: '.' });
  return changes;
}

/** The rights that hopgate needs. Permissions that a command set apply to hopgate too, unless it is root. */
const FILE = constants.R_OK;
const FOLDER = constants.R_OK | constants.X_OK;

const lookAt = (path: string): Stats | null => lstatIfAny(path) ?? null;
