import { type Dirent, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { isNonUtf8Name, refuseMaskedNonUtf8 } from './non-utf8-names.ts';
import { type FolderSeen, folderStamp, isUnlistable, readFolder } from './read-folder.ts';

interface Hit {
  /** Root-relative. */
  readonly path: string;
  readonly entry: Pick<Dirent, 'isDirectory' | 'isSymbolicLink'>;
}

/** The entries of a folder when its state was `stamp`. */
interface Listing {
  readonly stamp: bigint | null;
  readonly hits: readonly Hit[];
  readonly folders: readonly string[];
}

const known = new WeakMap<readonly string[], Map<string, Listing>>();

/**
 * The masked paths in a `node_modules` folder. It contains thousands of folders that rarely change, so a folder is read
 * again only if its state differs.
 *
 * @param note receives each folder
 */
export function maskedInModules(
  root: string,
  modules: string,
  masks: readonly string[],
  masked: (path: string) => boolean,
  note: (seen: FolderSeen) => void,
): Hit[] {
  const listings = known.get(masks) ?? new Map<string, Listing>();
  known.set(masks, listings);
  const hits: Hit[] = [];
  const open = [modules];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    const listing = list(root, folder, masked, listings);
    note({ path: folder, stamp: listing.stamp });
    hits.push(...listing.hits);
    open.push(...listing.folders);
  }
  return hits;
}

function list(
  root: string,
  folder: string,
  masked: (path: string) => boolean,
  listings: Map<string, Listing>,
): Listing {
  const path = join(root, folder);
  const stamp = folderStamp(path);
  const before = listings.get(path);
  if (before !== undefined && before.stamp === stamp) return before;
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat?.isDirectory()) return { stamp: null, hits: [], folders: [] };
  const hits: Hit[] = [];
  const folders: string[] = [];
  const entries = readFolder(path);
  if (entries.length === 0 && isUnlistable(path)) hits.push({ path: folder, entry: stat });
  for (const entry of entries) {
    const inner = `${folder}/${entry.name}`;
    if (isNonUtf8Name(path, entry.name)) refuseMaskedNonUtf8(root, folder, entry.name, masked);
    else if (masked(inner)) hits.push({ path: inner, entry });
    else if (entry.isDirectory()) folders.push(inner);
  }
  const listing = { stamp, hits, folders };
  if (stamp !== null) listings.set(path, listing);
  else listings.delete(path);
  return listing;
}
