import { existsSync, statSync } from 'node:fs';
import { realpathIfAny } from '../../base/files.ts';
import { isWithin } from '../../base/paths.ts';
import type { Mount } from '../sandbox/mount.ts';

/** Where git keeps contents of files beside its objects: what it recovered, remembers of conflicts, is about to apply, or let somebody edit. */
export const COPIES: readonly string[] = [
  ...['lost-found', 'rr-cache', 'rebase-apply', 'lfs', 'annex'],
  ...['COMMIT_EDITMSG', 'ADD_EDIT.patch', 'addp-hunk-edit.diff', 'rebase-merge/patch'],
];

/** What covers a path with nothing, wherever it leads, as far as it leads to where a command can see it: beneath one of `seen`. */
export function coverOf(seen: readonly string[]): (path: string) => Mount[] {
  return (path) => {
    // Most are not there, and this is said sooner than an error.
    const target = existsSync(path) ? realpathIfAny(path) : null;
    if (target === null || !seen.some((folder) => isWithin(folder, target))) return [];
    return [{ kind: statSync(target).isDirectory() ? 'empty-folder' : 'empty-file', target }];
  };
}
