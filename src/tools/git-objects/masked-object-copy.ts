import { hash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  type Stats,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { realpathIfAny } from '../../base/files.ts';
import type { SandboxMount } from '../sandbox/mount.ts';
import { readFolder } from '../sandbox/mounts/read-folder.ts';
import { setOwnerAsRoot, stampOfFiles } from '../sandbox/mounts/temp-folder.ts';
import { explainGitFailure, type GitFailure, type GitObjectList, type SandboxedGit } from './list-objects.ts';
import { packMembershipTest } from './pack-index.ts';
import type { StoredObjects } from './stored-objects.ts';

/** A copy of the objects that a command may read, and the mounts that place them where git expects them. */
export interface MaskedObjectCopy {
  readonly folder: string;
  readonly mounts: readonly SandboxMount[];
  /** A hash of the names of the rewritten packs and of their removed objects; null if all objects were rewritten. */
  readonly repacked: string | null;
  /** The state of the copy's folders at the time when the copy was complete. */
  readonly stamp: string;
}

export const isObjectCopyComplete = ({ folder, stamp }: MaskedObjectCopy): boolean => stampOf(folder) === stamp;

const stampOf = (folder: string): string => {
  const names = readFolder(folder).map(({ name }) => name);
  return stampOfFiles(folder, ['', 'pack', 'info', ...names.slice(0, SAMPLED_FOLDERS)]);
};

/** Number of folders with loose objects that are compared: a cleaner of temporary files removes files from all. */
const SAMPLED_FOLDERS = 8;
/** Maximum number of unchanged packs, because each of their files needs a mount of its own. */
const MAX_UNCHANGED = 40;
const PACK_FILES = ['pack', 'idx', 'rev', 'promisor'];
const COPY_IN_SANDBOX = '/tmp/view';
const EMPTY_BLOB = deflateSync(Buffer.from('blob 0\0'));

interface CopyRequest {
  readonly git: SandboxedGit;
  /** Absolute real path of the repository's `objects`. */
  readonly objects: string;
  readonly list: GitObjectList;
  readonly stored: StoredObjects;
  /** An empty folder that hopgate created. */
  readonly folder: string;
  readonly previous: MaskedObjectCopy | null;
  /** True if some objects lie in other repositories; all objects are then rewritten. */
  readonly hasAlternates: boolean;
}

/**
 * Makes a copy without unreachable objects, in which each masked blob is empty under its own name. Git does not verify
 * an object's hash when it reads the object. So diff, blame and grep still work, and find masked files empty as in the
 * sandbox's work tree.
 *
 * Packs without masked and unreachable objects are mounted unchanged; the others are rewritten.
 */
export async function copyMaskedObjects(request: CopyRequest): Promise<MaskedObjectCopy | GitFailure> {
  const { objects, list, folder, previous, hasAlternates } = request;
  const { readable, masked } = list;
  const { unchanged, rewritten } = sortPacks(request);
  const files = new ObjectFolder(folder, lstatSync(objects));
  for (const name of request.stored.loose)
    if (readable.has(name) && !masked.has(name))
      files.addObject(name, (path) => copyFileSync(join(objects, name.slice(0, 2), name.slice(2)), path));
  for (const name of masked) files.addObject(name, (path) => writeFileSync(path, EMPTY_BLOB, { mode: 0o444 }));

  const repacked = hasAlternates ? null : fingerprintOf(rewritten);
  if (repacked !== null && previous?.repacked === repacked) linkPacks(previous.folder, folder);
  else {
    const copied = [...readable].filter((name) => hasAlternates || rewritten.some(({ has }) => has(name)));
    const failure = copied.length > 0 ? await writePack(request, copied) : null;
    if (failure) return failure;
  }
  const mountedUnchanged = mountedFiles(request, unchanged);
  for (const { path } of mountedUnchanged) writeFileSync(join(folder, path), '', { mode: 0o444 });
  return {
    folder,
    repacked,
    stamp: stampOf(folder),
    mounts: [
      { kind: 'read-only', source: folder, target: objects },
      ...mountedUnchanged.map(
        ({ path, source }): SandboxMount => ({ kind: 'read-only', source, target: join(objects, path) }),
      ),
    ],
  };
}

interface Pack {
  readonly name: string;
  readonly has: (object: string) => boolean;
  /** The masked and the unreachable objects in the pack. */
  readonly removed: readonly string[];
}

function sortPacks({ list, stored, hasAlternates }: CopyRequest): Record<'unchanged' | 'rewritten', readonly Pack[]> {
  const all = [...list.masked, ...list.unreachable];
  const nameBytes = ([...list.readable, ...all][0]?.length ?? 40) / 2;
  const packs = stored.packs.map((name) => {
    const has = packMembershipTest(join(stored.packFolder, `${name}.idx`), nameBytes);
    return { name, has, removed: all.filter(has) };
  });
  const mayStay = !hasAlternates && packs.length <= MAX_UNCHANGED;
  return {
    unchanged: packs.filter(({ removed }) => mayStay && removed.length === 0),
    rewritten: packs.filter(({ removed }) => !mayStay || removed.length > 0),
  };
}

/** A hash of the names of the rewritten packs and of the objects removed from them. */
const fingerprintOf = (rewritten: readonly Pack[]): string =>
  hash('sha256', JSON.stringify(rewritten.map(({ name, removed }) => [name, removed.toSorted()])), 'hex');

/** The files of git that are mounted into the copy: each unchanged pack, and the commit graph. Links are left out. */
function mountedFiles({ objects, stored: { packFolder } }: CopyRequest, unchanged: readonly Pack[]) {
  const packFiles = unchanged.flatMap(({ name }) => PACK_FILES.map((ending) => `${name}.${ending}`));
  return [
    ...packFiles.map((name) => ({ path: `pack/${name}`, source: join(packFolder, name) })),
    { path: 'info/commit-graph', source: join(objects, 'info/commit-graph') },
  ].filter(({ source }) => realpathIfAny(source) === source);
}

/** The folder of a copy, like git's `objects`. Under root, its owner is the user that git runs as. */
class ObjectFolder {
  readonly #folder: string;
  readonly #owner: Stats;

  constructor(folder: string, owner: Stats) {
    this.#folder = folder;
    this.#owner = owner;
    for (const path of ['', 'pack', 'info']) this.#makeFolder(join(folder, path));
  }

  /** Adds a loose object, whose file `write` makes. */
  addObject(name: string, write: (path: string) => void): void {
    const parent = join(this.#folder, name.slice(0, 2));
    if (!existsSync(parent)) this.#makeFolder(parent);
    const path = join(parent, name.slice(2));
    write(path);
    setOwnerAsRoot(path, this.#owner);
  }

  #makeFolder(path: string): void {
    mkdirSync(path, { recursive: true, mode: 0o755 });
    setOwnerAsRoot(path, this.#owner);
    if (process.getuid!() === 0) chmodSync(path, 0o755);
  }
}

/** Writes these objects as a new pack of the copy. Returns git's failure, or null. */
async function writePack({ git, objects, folder }: CopyRequest, names: readonly string[]): Promise<GitFailure | null> {
  const packed = await git(`"$@" pack-objects -q --window=0 ${COPY_IN_SANDBOX}/pack/pack`, {
    stdin: names.map((name) => `${name}\n`).join(''),
    mounts: [{ kind: 'writable', source: folder, target: COPY_IN_SANDBOX }],
    env: { GIT_OBJECT_DIRECTORY: COPY_IN_SANDBOX, GIT_ALTERNATE_OBJECT_DIRECTORIES: objects },
  });
  return packed.exit === 0 ? null : explainGitFailure(packed);
}

/** Links the rewritten packs of another copy into this one. An empty file is the mount point of an unchanged pack. */
function linkPacks(from: string, to: string): void {
  for (const name of readdirSync(join(from, 'pack')))
    if (lstatSync(join(from, 'pack', name)).size > 0) linkSync(join(from, 'pack', name), join(to, 'pack', name));
}
