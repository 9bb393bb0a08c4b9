import { type Dirent, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { isNonUtf8Name, refuseMaskedNonUtf8 } from './non-utf8-names.ts';
import { isUnlistable, readFolder } from './read-folder.ts';

interface Hit {
  /** Root-relative. */
  readonly path: string;
  readonly entry: Pick<Dirent, 'isDirectory' | 'isSymbolicLink'>;
}

/** The entries of a folder when its change time was `stamp`. */
interface Listing {
  readonly stamp: bigint;
  readonly hits: readonly Hit[];
  readonly folders: readonly string[];
}

/**
 * A folder that changed less than this before it was read may change again within the same tick of the file system's
 * clock.
 */
const SETTLED_MS = 100;

const known = new WeakMap<readonly string[], Map<string, Listing>>();

/**
 * The masked paths in a `node_modules` folder. It contains thousands of folders that rarely change, so a folder is read
 * again only if its change time (ctime) differs; programs cannot reset a ctime.
 */
export function maskedInModules(
  root: string,
  modules: string,
  masks: readonly string[],
  masked: (path: string) => boolean,
): Hit[] {
  const listings = known.get(masks) ?? new Map<string, Listing>();
  known.set(masks, listings);
  const hits: Hit[] = [];
  const open = [modules];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    const listing = list(root, folder, masked, listings);
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
  const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (!stat?.isDirectory()) return { stamp: 0n, hits: [], folders: [] };
  const stamp = stat.ctimeNs * 1_000_003n + stat.ino;
  const before = listings.get(path);
  if (before?.stamp === stamp) return before;
  const hits: Hit[] = [];
  const folders: string[] = [];
  const isSettled = Date.now() - Number(stat.ctimeMs) > SETTLED_MS;
  const entries = readFolder(path);
  if (entries.length === 0 && isUnlistable(path)) hits.push({ path: folder, entry: stat });
  for (const entry of entries) {
    const inner = `${folder}/${entry.name}`;
    if (isNonUtf8Name(path, entry.name)) refuseMaskedNonUtf8(root, folder, entry.name, masked);
    else if (masked(inner)) hits.push({ path: inner, entry });
    else if (entry.isDirectory()) folders.push(inner);
  }
  const listing = { stamp, hits, folders };
  if (isSettled) listings.set(path, listing);
  else listings.delete(path);
  return listing;
}
