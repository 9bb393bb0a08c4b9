import { lstatSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readIfAny, realpathIfAny } from '../read-if-any.ts';

/** What lies in the folder of objects, as files. */
export interface Stored {
  /** Loose objects. */
  readonly loose: readonly string[];
  /** Names of packs, such as `pack-1234`. */
  readonly packs: readonly string[];
  /** There is something else in it, such as what an interrupted git left half written. */
  readonly hasLeftovers: boolean;
}

const PACK_FILE = /^(pack-[0-9a-f]+)\.(?:pack|idx|rev|bitmap|keep|promisor|mtimes)$/;
const KNOWN = /^(?:multi-pack-index.*|pack-[0-9a-f]+\.(?:pack|idx|rev|bitmap|keep|promisor|mtimes))$/;

/** @param objects absolute path of a repository's `objects` */
export function stored(objects: string): Stored {
  const loose: string[] = [];
  let hasLeftovers = false;
  for (const name of readdirSync(objects)) {
    if (name === 'pack' || name === 'info') continue;
    if (!/^[0-9a-f]{2}$/.test(name)) {
      hasLeftovers = true;
      continue;
    }
    for (const rest of readdirSync(join(objects, name))) {
      if (/^[0-9a-f]{38}(?:[0-9a-f]{24})?$/.test(rest)) loose.push(name + rest);
      else hasLeftovers = true;
    }
  }
  const files = readdirIfAny(join(objects, 'pack'));
  const packs = new Set(files.flatMap((file) => PACK_FILE.exec(file)?.[1] ?? []));
  return {
    loose,
    packs: [...packs].filter((name) => files.includes(`${name}.pack`) && files.includes(`${name}.idx`)).sort(),
    hasLeftovers: hasLeftovers || files.some((file) => !KNOWN.test(file)),
  };
}

/** Folders of objects that this one borrows from (git's alternates), and those that they borrow from. Absolute and real. */
export function alternatesOf(objects: string): string[] {
  const found = new Set<string>();
  const walk = (folder: string): void => {
    for (const line of readIfAny(join(folder, 'info/alternates')).split('\n')) {
      const real = line === '' || line.startsWith('#') ? null : realpathIfAny(resolve(folder, line));
      if (real === null || found.has(real)) continue;
      found.add(real);
      walk(real);
    }
  };
  walk(objects);
  return [...found];
}

/** Real paths of what links in a folder of objects lead to. */
export function linkedFrom(objects: string): string[] {
  return ['', 'pack', 'info'].flatMap((folder) =>
    readdirIfAny(join(objects, folder))
      .map((name) => join(objects, folder, name))
      .filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())
      .flatMap((path) => realpathIfAny(path) ?? []),
  );
}

function readdirIfAny(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // a repository without packs
    return [];
  }
}
