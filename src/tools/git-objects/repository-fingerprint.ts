import { join } from 'node:path';
import { listFileNames, listFolderEntries, lstatIfAny } from '../../base/files.ts';
import type { GitFolder } from './git-folder.ts';

/** Files that git writes when objects become reachable or unreachable. */
const HEADS = ['HEAD', 'index', 'logs/HEAD', 'FETCH_HEAD', 'ORIG_HEAD', 'MERGE_HEAD', 'CHERRY_PICK_HEAD'];

/** A text that changes if the repository gains or loses an object, or its refs, reflogs or index change. */
export function repositoryFingerprint({ gitDir, commonDir }: GitFolder): string {
  const stamps: string[] = [];
  const addStamp = (path: string): void => {
    const stats = lstatIfAny(path);
    stamps.push(stats ? `${stats.ino} ${stats.mtimeMs} ${stats.size}` : '-');
  };
  const objects = join(commonDir, 'objects');
  for (const name of listFileNames(objects)) addStamp(join(objects, name));
  for (const name of HEADS) addStamp(join(gitDir, name));
  addStamp(join(commonDir, 'packed-refs'));
  addStamp(join(commonDir, 'reftable'));
  const worktrees = join(commonDir, 'worktrees');
  for (const name of listFileNames(worktrees)) for (const each of HEADS) addStamp(join(worktrees, name, each));
  // Git replaces a ref by a rename, so the time of the ref's folder changes.
  const open = [join(commonDir, 'refs')];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    addStamp(folder);
    for (const entry of listFolderEntries(folder)) if (entry.isDirectory()) open.push(join(folder, entry.name));
  }
  return stamps.join('\n');
}
