import { constants } from 'node:fs';
import { chmod, copyFile, lchown, lstat, mkdir, readdir, readlink, rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { OverlayWrites } from '../sandbox/sandbox.ts';
import { makeJournal } from '../shell/change-journal.ts';
import type { DroppedChange } from '../shell/judge-change.ts';
import { descriptorAnchors } from '../workspace/anchors.ts';
import { walkPathBeneath } from '../workspace/walk-beneath.ts';

/**
 * Replaces whole paths of the root by their state on the overlay, for large folders such as `node_modules`: files,
 * folders and links, without set-id bits and nested repositories. Each path is copied next to the tree and replaced by
 * a rename, so that its content is always either the old or the complete new one.
 * @param paths root-relative, not nested
 */
export async function keepOverlayPaths(
  root: string,
  paths: readonly string[],
  { merged }: OverlayWrites,
): Promise<{ readonly kept: readonly string[]; readonly dropped: readonly DroppedChange[] }> {
  const kept: string[] = [];
  const dropped: DroppedChange[] = [];
  if (paths.length === 0) return { kept, dropped };
  const stage = makeJournal(root);
  try {
    for (const [at, path] of paths.entries()) {
      try {
        const copy = join(stage.folder, `new-${at}`);
        await copyTree(join(merged, path), copy);
        const why = await putInPlace(root, path, copy, join(stage.folder, `old-${at}`));
        if (why === null) kept.push(path);
        else dropped.push({ path, why });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === undefined) throw error;
        dropped.push({ path, why: `it could not be kept: ${(error as Error).message}` });
      }
    }
  } finally {
    stage.remove();
  }
  return { kept, dropped };
}

/** @returns the reason why the path could not be put in place; null if it could */
async function putInPlace(root: string, path: string, copy: string, old: string): Promise<string | null> {
  const segments = path.split('/');
  const folder = walkPathBeneath(root, segments.slice(0, -1), descriptorAnchors);
  if (!('real' in folder)) return 'its folder lies outside of the root';
  try {
    if (folder.kind !== 'folder' || folder.real.join('/') !== segments.slice(0, -1).join('/'))
      return 'its folder is a link, or does not exist';
    const target = `${folder.anchor.path}/${segments.at(-1)!}`;
    const isThere = (await lstat(target).catch(() => null)) !== null;
    if (isThere) await rename(target, old);
    try {
      await rename(copy, target);
    } catch (error) {
      if (isThere) await rename(old, target);
      throw error;
    }
    return null;
  } finally {
    folder.close();
  }
}

const PERMISSIONS = 0o777;

/** Copies files, folders and links with their owners; links are not followed, other files are left out. */
async function copyTree(from: string, to: string): Promise<void> {
  const stats = await lstat(from);
  if (stats.isSymbolicLink()) await symlink(await readlink(from), to);
  else if (stats.isFile()) {
    await copyFile(from, to, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
    await chmod(to, stats.mode & PERMISSIONS);
  } else if (stats.isDirectory()) {
    await mkdir(to, { mode: 0o700 });
    // A nested repository is left out, because its hooks could run outside the sandbox.
    for (const name of await readdir(from)) if (name !== '.git') await copyTree(join(from, name), join(to, name));
    await chmod(to, stats.mode & PERMISSIONS);
  } else return;
  if (process.getuid?.() === 0) await lchown(to, stats.uid, stats.gid);
}
