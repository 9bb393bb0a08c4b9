import type { Dirent } from 'node:fs';
import { join } from 'node:path';
import { lstatIfAny } from '../../../base/files.ts';
import { getOrInsert } from '../../../base/get-or-insert.ts';
import { isGitCredential } from '../../../gate/scope/masks.ts';
import { isConfiguredGitFolder, isFolderOfGitItself, isGitFolder, isGitObjectStore } from '../../git-paths.ts';
import { isNonUtf8Name, refuseMaskedNonUtf8 } from './non-utf8-names.ts';
import { type FolderState, folderStateStamp, isUnlistableFolder, readFolder } from './read-folder.ts';

interface Hit {
  /** The path, relative to the base of the search. */
  readonly path: string;
  readonly entry: Pick<Dirent, 'isDirectory' | 'isSymbolicLink'>;
}

/**
 * The meaning of the names in a folder: `objects` are git's objects; `branches` are branch names, such as `secrets/a`
 * in git's `refs` and `logs`. Among names of branches, only a name that begins with a dot can be masked, because no
 * branch name begins with a dot.
 */
type Names = 'paths' | 'objects' | 'branches';

interface CachedFolder {
  readonly path: string;
  readonly names: Names;
}

/** The entries of a folder when its state was `stamp`. */
interface Listing {
  readonly stamp: bigint | null;
  readonly names: Names;
  readonly hits: readonly Hit[];
  readonly folders: readonly CachedFolder[];
  readonly kind: 'repository' | 'store' | 'other';
  readonly hasGitFile: boolean;
}

/** The result of a search, with paths relative to its base. */
export interface MaskedSearchResult {
  readonly hits: readonly Hit[];
  readonly repositories: readonly string[];
  /** Folders that look like git object stores and belong to none of these repositories. */
  readonly stores: readonly string[];
  /** `.git` files, which name the repository of their folder. */
  readonly gitFiles: readonly string[];
  readonly folders: readonly FolderState[];
}

export type MutableLists<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer U)[] ? U[] : never };

/** The kind of names in some folders of a git folder. */
const NAMES_IN_GIT: { readonly [name: string]: Names } = { objects: 'objects', refs: 'branches', logs: 'branches' };

/**
 * The start of a cached search, for a folder that may contain thousands of folders that rarely change: `node_modules`,
 * and git's folders of objects and refs. Null for any other folder.
 * @param inGit true if the folder lies in a git folder
 */
export function startOfCachedSearch(path: string, name: string, inGit: boolean): CachedFolder | null {
  if (inGit && isFolderOfGitItself(name)) return { path, names: NAMES_IN_GIT[name] ?? 'paths' };
  return name === 'node_modules' ? { path, names: 'paths' } : null;
}

type IsMasked = (path: string, entry?: Dirent) => boolean;

const listingsByMasks = new WeakMap<readonly string[], Map<string, Listing>>();

/**
 * The masked paths and the repositories in a cached folder. A folder inside is read again only if its state differs.
 * @param masks identifies the patterns of `masked`
 */
export function searchMaskedPaths(
  base: string,
  start: CachedFolder,
  masks: readonly string[],
  isMasked: IsMasked,
): MaskedSearchResult {
  const listings = getOrInsert(listingsByMasks, masks, () => new Map<string, Listing>());
  const found: MutableLists<MaskedSearchResult> = { hits: [], repositories: [], stores: [], gitFiles: [], folders: [] };
  const open = [start];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    const { path } = folder;
    const listing = listFolder(base, folder, isMasked, listings);
    found.folders.push({ path, stamp: listing.stamp });
    found.hits.push(...listing.hits);
    if (listing.kind === 'repository') found.repositories.push(path);
    if (listing.kind === 'store') found.stores.push(path);
    if (listing.hasGitFile) found.gitFiles.push(under(path, '.git'));
    open.push(...listing.folders);
  }
  return found;
}

const under = (folder: string, name: string): string => (folder === '' ? name : `${folder}/${name}`);

function listFolder(
  base: string,
  { path: folder, names }: CachedFolder,
  masked: IsMasked,
  listings: Map<string, Listing>,
): Listing {
  const path = join(base, folder);
  const stamp = folderStateStamp(path);
  const before = listings.get(path);
  if (before !== undefined && before.stamp === stamp && before.names === names) return before;
  const stat = lstatIfAny(path);
  if (!stat?.isDirectory()) return { stamp: null, names, hits: [], folders: [], kind: 'other', hasGitFile: false };
  const hits: Hit[] = [];
  const folders: CachedFolder[] = [];
  const entries = readFolder(path);
  if (entries.length === 0 && isUnlistableFolder(path)) hits.push({ path: folder, entry: stat });
  const isGit = isConfiguredGitFolder(path, entries);
  let hasGitFile = false;
  for (const entry of entries) {
    const inner = under(folder, entry.name);
    const isHidden = (names !== 'branches' || entry.name.startsWith('.')) && masked(inner, entry);
    if (isNonUtf8Name(path, entry.name)) refuseMaskedNonUtf8(base, folder, entry.name, masked);
    else if (isHidden || (isGit && isGitCredential(entry.name))) hits.push({ path: inner, entry });
    else if (entry.isDirectory())
      folders.push(
        (isGit ? startOfCachedSearch(inner, entry.name, true) : null) ?? {
          path: inner,
          names: names === 'branches' && !isGit ? 'branches' : 'paths',
        },
      );
    else if (entry.name === '.git' && entry.isFile()) hasGitFile = true;
  }
  const isStore = names !== 'objects' && isGitObjectStore(entries);
  const kind = isGit && isGitFolder(entries) ? 'repository' : isStore ? 'store' : 'other';
  const listing: Listing = { stamp, names, hits, folders, kind, hasGitFile };
  // Without a HEAD, the entries of `objects` decide if the folder is a repository. They can change without a change of
  // this folder's stamp, so the listing is not stored.
  const isSettled = stamp !== null && (kind === 'repository' || !isGitFolder(entries));
  if (isSettled) listings.set(path, listing);
  else listings.delete(path);
  return listing;
}
