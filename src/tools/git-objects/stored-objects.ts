import { join, resolve } from 'node:path';
import { readTextOrEmpty, realpathIfAny } from '../../base/files.ts';
import { isPathWithin } from '../../base/paths.ts';
import { readFolder } from '../sandbox/mounts/read-folder.ts';

/** The files in a repository's `objects` folder. */
export interface StoredObjects {
  readonly loose: readonly string[];
  /** Names of packs, such as `pack-1234`. */
  readonly packs: readonly string[];
  /** Absolute real path of the folder with the packs. */
  readonly packFolder: string;
  /** True if the folder also contains other files, such as partial ones from an interrupted git. */
  readonly hasLeftovers: boolean;
}

const PACK_FILE = /^(pack-[0-9a-f]+)\.(?:pack|idx|rev|bitmap|keep|promisor|mtimes)$/;
const EXPECTED_FILE = /^(?:multi-pack-index.*|pack-[0-9a-f]+\.(?:pack|idx|rev|bitmap|keep|promisor|mtimes))$/;

/**
 * Lists regular files only, because hopgate would copy or mount the target of a link, and may read more than a command.
 * Only the folder of packs may be a link, to a place that a command can see.
 * @param objects absolute real path of a repository's `objects`
 * @param seen folders that a command can see
 */
export function listStoredObjects(objects: string, seen: readonly string[]): StoredObjects {
  const loose: string[] = [];
  let hasLeftovers = false;
  for (const entry of readFolder(objects)) {
    if (entry.name === 'pack' || entry.name === 'info') continue;
    if (!/^[0-9a-f]{2}$/.test(entry.name) || !entry.isDirectory()) {
      hasLeftovers = true;
      continue;
    }
    for (const inner of readFolder(join(objects, entry.name))) {
      if (inner.isFile() && /^[0-9a-f]{38}(?:[0-9a-f]{24})?$/.test(inner.name)) loose.push(entry.name + inner.name);
      else hasLeftovers = true;
    }
  }
  const packFolder = realPathWithin(seen, join(objects, 'pack')) ?? join(objects, 'pack');
  const entries = realpathIfAny(packFolder) === packFolder ? readFolder(packFolder) : [];
  const files = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  const packs = new Set(files.flatMap((file) => PACK_FILE.exec(file)?.[1] ?? []));
  return {
    loose,
    packs: [...packs].filter((name) => files.includes(`${name}.pack`) && files.includes(`${name}.idx`)).sort(),
    packFolder,
    hasLeftovers: hasLeftovers || files.length < entries.length || files.some((file) => !EXPECTED_FILE.test(file)),
  };
}

/** The real path of `path` if it lies in one of the folders; else null. */
export function realPathWithin(folders: readonly string[], path: string): string | null {
  const real = realpathIfAny(path);
  return real !== null && folders.some((folder) => isPathWithin(folder, real)) ? real : null;
}

/** Real paths of the folders from which an `objects` folder borrows (git's alternates), also indirectly. */
export function findGitAlternates(objects: string): string[] {
  const found = new Set<string>();
  const walk = (folder: string): void => {
    for (const line of readTextOrEmpty(join(folder, 'info/alternates')).split('\n')) {
      const real = line === '' || line.startsWith('#') ? null : realpathIfAny(resolve(folder, line));
      if (real === null || found.has(real)) continue;
      found.add(real);
      walk(real);
    }
  };
  walk(objects);
  return [...found];
}

export function findObjectLinkTargets(objects: string): string[] {
  return ['', 'pack', 'info'].flatMap((folder) =>
    readFolder(join(objects, folder))
      .filter((entry) => entry.isSymbolicLink())
      .flatMap(({ name }) => realpathIfAny(join(objects, folder, name)) ?? []),
  );
}
