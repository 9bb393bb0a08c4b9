import { createHash } from 'node:crypto';
import { type BigIntStats, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { TreeState } from '../../gate/scope/compare-trees.ts';
import { compileMasks } from '../../gate/scope/masks.ts';
import type { CallEnvelope } from '../../ports/tool-backend.ts';
import { sha256Hex } from '../content-effect.ts';
import type { TreeProblem } from './git-tree.ts';

const MAX_FILES = 400_000;
/** The hash of each file, and the file's state when it was read; by path. */
const hashes = new Map<string, { readonly stamp: string; readonly hash: string }>();

/**
 * Computes the id of the tree of a root without a repository: a sha256 over the sorted paths, kinds, permissions to
 * execute and contents of all files. Masked files, `.git` and `node_modules` do not count. A file is read again only if
 * its time, size or inode has changed.
 */
export function computeFolderTree({ root, config }: Pick<CallEnvelope, 'root' | 'config'>): TreeState | TreeProblem {
  const masked = compileMasks(config.mask);
  const all = createHash('sha256');
  let left = MAX_FILES;
  const walk = (folder: string): void => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true }).sort((a, b) =>
      a.name < b.name ? -1 : 1,
    )) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (masked(path) || entry.name === '.git' || entry.name === 'node_modules') continue;
      left -= 1;
      if (left < 0) return;
      const file = join(root, path);
      if (entry.isDirectory()) walk(path);
      else if (entry.isSymbolicLink()) all.update(`link ${path}\0${readlinkSync(file)}\0`);
      else if (entry.isFile()) {
        const stats = lstatSync(file, { bigint: true });
        all.update(`${stats.mode & 0o111n ? 'program' : 'file'} ${path}\0${contentOf(file, stats)}\0`);
      }
    }
  };
  try {
    walk('');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return { problem: (error as Error).message };
  }
  if (left < 0) return { problem: `it holds more than ${MAX_FILES} files` };
  return { kind: 'files', id: all.digest('hex'), head: null, changed: null };
}

function contentOf(file: string, { dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  const stamp = [dev, ino, size, mtimeNs, ctimeNs].join(' ');
  const before = hashes.get(file);
  if (before?.stamp === stamp) return before.hash;
  const hash = sha256Hex(readFileSync(file));
  if (hashes.size > MAX_FILES) hashes.clear();
  // A file that changed shortly before may change again within the same time stamp.
  if (BigInt(Date.now()) * 1_000_000n - ctimeNs > 2_000_000_000n) hashes.set(file, { stamp, hash });
  return hash;
}
