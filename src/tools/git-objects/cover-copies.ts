import { existsSync, statSync } from 'node:fs';
import { realpathIfAny } from '../../base/files.ts';
import { isWithin } from '../../base/paths.ts';
import type { Mount } from '../sandbox/mount.ts';

/** Places where git stores contents outside of its objects: recovered files, remembered conflicts, patches, texts. */
export const COPIES: readonly string[] = [
  ...['lost-found', 'rr-cache', 'rebase-apply', 'lfs', 'annex'],
  ...['COMMIT_EDITMSG', 'ADD_EDIT.patch', 'addp-hunk-edit.diff', 'rebase-merge/patch'],
];

/** Mounts an empty file or folder over the real target of a path, if that is in a visible folder (`seen`). */
export function coverOf(seen: readonly string[]): (path: string) => Mount[] {
  return (path) => {
    // Most of these files do not exist; `existsSync` is cheaper than a thrown ENOENT.
    const target = existsSync(path) ? realpathIfAny(path) : null;
    if (target === null || !seen.some((folder) => isWithin(folder, target))) return [];
    return [{ kind: statSync(target).isDirectory() ? 'empty-folder' : 'empty-file', target }];
  };
}
