import type { Stats } from 'node:fs';
import { join } from 'node:path';
import { listFolderEntries, lstatIfAny, readLinkOrNull } from '../../base/files.ts';
import { valueOr } from '../../base/value-or.ts';
import type { OverlayWrites } from '../sandbox/sandbox.ts';
import { hashFile } from './change-journal.ts';
import { DELETED_REASON_PREFIX, type JudgedChanges } from './judge-change.ts';

/** Maximum number of dropped files that are compared with deleted ones. */
const MAX_COMPARED = 10_000;

/**
 * Takes back the deletion of a file whose content is in a dropped change: a file that a command moves out of the scope
 * would be lost. Empty files have no content to lose.
 */
export function keepMovedFiles(root: string, view: OverlayWrites, judged: JudgedChanges): JudgedChanges {
  const sizes = new Map(judged.deletions.map((path) => [path, lstatIfAny(join(root, path))?.size ?? 0]));
  const wanted = new Set([...sizes.values()].filter((size) => size > 0));
  if (wanted.size === 0) return judged;
  const contents = new Set<string>();
  let compared = 0;
  const add = (path: string): void => {
    const stats = valueOr(() => lstatIfAny(path), undefined);
    if (!stats || ++compared > MAX_COMPARED) return;
    if (stats.isDirectory()) for (const { name } of valueOr(() => listFolderEntries(path), [])) add(join(path, name));
    else if (wanted.has(stats.size)) contents.add(contentOf(path, stats) ?? '');
  };
  for (const { path } of judged.dropped) add(join(view.upper, path));
  if (contents.size === 0) return judged;
  const moved = judged.deletions.filter((path) => {
    const stats = sizes.get(path) === 0 ? undefined : lstatIfAny(join(root, path));
    return stats !== undefined && contents.has(contentOf(join(root, path), stats) ?? 'none');
  });
  const why = `${DELETED_REASON_PREFIX} its content is only in a file that is not kept`;
  return {
    ...judged,
    deletions: judged.deletions.filter((path) => !moved.includes(path)),
    emptied: judged.emptied.filter((folder) => !moved.some((path) => path.startsWith(`${folder}/`))),
    dropped: [...judged.dropped, ...moved.map((path) => ({ path, why }))],
  };
}

/** The target of a link, or the hash of a regular file; null for another kind of file. */
function contentOf(path: string, stats: Stats): string | null {
  if (stats.isSymbolicLink()) return `link to ${readLinkOrNull(path)}`;
  return stats.isFile() ? valueOr(() => hashFile(path), null) : null;
}
