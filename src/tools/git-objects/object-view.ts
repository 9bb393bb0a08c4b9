import { hash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { realpathIfAny } from '../../base/files.ts';
import type { Mount } from '../sandbox/mount.ts';
import { readFolder } from '../sandbox/mounts/read-folder.ts';
import type { GitRunner, ObjectList } from './list-objects.ts';
import { packIndex } from './pack-index.ts';
import type { Stored } from './stored.ts';

/** A copy of the objects that a command may read, and the mounts that place them where git expects them. */
export interface ObjectView {
  readonly folder: string;
  readonly mounts: readonly Mount[];
  /** Names the rewritten packs and their removed objects; null if all objects were rewritten. */
  readonly repacked: string | null;
  /** State of the view's folders when it was complete. */
  readonly stamp: string;
}

/** True if no file of the view was removed. */
export const isWhole = ({ folder, stamp }: ObjectView): boolean => stampOf(folder) === stamp;

const stampOf = (folder: string): string => {
  const some = [
    '',
    'pack',
    'info',
    ...readFolder(folder)
      .slice(0, STAMPED)
      .map(({ name }) => name),
  ];
  const stats = some.map((name) => lstatSync(join(folder, name), { bigint: true, throwIfNoEntry: false }));
  return stats.map((each) => `${each?.ino} ${each?.ctimeNs}`).join();
};

/** How many folders with loose objects are checked: a cleaner of old files removes from all. */
const STAMPED = 8;
/** Each of its files is a mount. */
const MOST_KEPT_PACKS = 40;
const KEPT_FILES = ['pack', 'idx', 'rev', 'promisor'];
const INSIDE = '/tmp/view';
const EMPTY_BLOB = deflateSync(Buffer.from('blob 0\0'));

export interface ViewRequest {
  readonly git: GitRunner;
  /** Absolute real path of the repository's `objects`. */
  readonly objects: string;
  readonly list: ObjectList;
  readonly stored: Stored;
  /** An empty folder that hopgate created. */
  readonly folder: string;
  /** The view before this one. */
  readonly before: ObjectView | null;
  /** Some objects lie in other repositories, so all are rewritten. */
  readonly borrows: boolean;
}

/**
 * Builds a view without unreachable objects, in which each masked blob is empty under its own name. Git's diff, blame
 * and grep still work and find masked files empty, as they are in the sandbox's work tree, because git does not verify
 * an object's hash when it reads it.
 *
 * Packs without such objects are mounted unchanged, the others are rewritten. Null if git failed.
 */
export async function buildView(request: ViewRequest): Promise<ObjectView | null> {
  const { git, objects, list, folder, before, borrows } = request;
  const { open, masked, unreached } = list;
  const covered = [...masked, ...unreached];
  const nameBytes = ([...open, ...covered][0]?.length ?? 40) / 2;
  const { packFolder } = request.stored;
  const packs = request.stored.packs.map((name) => {
    const has = packIndex(join(packFolder, `${name}.idx`), nameBytes);
    return { name, has, covers: covered.filter(has) };
  });
  const isKept = (covers: readonly string[]) => !borrows && packs.length <= MOST_KEPT_PACKS && covers.length === 0;
  const kept = packs.filter(({ covers }) => isKept(covers));
  const rewritten = packs.filter(({ covers }) => !isKept(covers));
  const ownerOf = lstatSync(objects);
  const make = (path: string) => {
    mkdirSync(path, { recursive: true, mode: 0o755 });
    own(path, ownerOf);
  };
  for (const path of ['', 'pack', 'info']) make(join(folder, path));

  const repacked = borrows
    ? null
    : hash('sha256', JSON.stringify(rewritten.map(({ name, covers }) => [name, covers.toSorted()])), 'hex');
  const put = (name: string, fill: (path: string) => void) => {
    const parent = join(folder, name.slice(0, 2));
    if (!existsSync(parent)) make(parent);
    const path = join(parent, name.slice(2));
    fill(path);
    own(path, ownerOf);
  };
  for (const name of request.stored.loose)
    if (open.has(name) && !masked.has(name))
      put(name, (path) => copyFileSync(join(objects, name.slice(0, 2), name.slice(2)), path));
  for (const name of masked) put(name, (path) => writeFileSync(path, EMPTY_BLOB, { mode: 0o444 }));

  if (rewritten.length > 0 || borrows) {
    if (repacked !== null && before?.repacked === repacked) reuse(join(before.folder, 'pack'), join(folder, 'pack'));
    else {
      const wanted = [...open].filter((name) => borrows || rewritten.some(({ has }) => has(name)));
      if (wanted.length > 0 && !(await pack(git, objects, folder, wanted))) return null;
    }
  }
  const keptFiles = kept.flatMap(({ name }) => KEPT_FILES.map((ending) => `${name}.${ending}`));
  const placed = [
    ...keptFiles.map((name) => ({ path: `pack/${name}`, source: join(packFolder, name) })),
    { path: 'info/commit-graph', source: join(objects, 'info/commit-graph') },
  ].filter(({ source }) => realpathIfAny(source) === source);
  for (const { path } of placed) writeFileSync(join(folder, path), '', { mode: 0o444 });
  return {
    folder,
    repacked,
    stamp: stampOf(folder),
    mounts: [
      { kind: 'read-only', source: folder, target: objects },
      ...placed.map(({ path, source }): Mount => ({ kind: 'read-only', source, target: join(objects, path) })),
    ],
  };
}

async function pack(git: GitRunner, objects: string, folder: string, names: readonly string[]): Promise<boolean> {
  const { exit } = await git(`"$@" pack-objects -q --window=0 ${INSIDE}/pack/pack`, {
    stdin: names.map((name) => `${name}\n`).join(''),
    mounts: [{ kind: 'writable', source: folder, target: INSIDE }],
    env: { GIT_OBJECT_DIRECTORY: INSIDE, GIT_ALTERNATE_OBJECT_DIRECTORIES: objects },
  });
  return exit === 0;
}

function reuse(from: string, to: string): void {
  // An empty file is the mount point of a pack.
  for (const name of readdirSync(from))
    if (lstatSync(join(from, name)).size > 0) linkSync(join(from, name), join(to, name));
}

/** Root may run git as the repository's owner. */
function own(path: string, { uid, gid }: { readonly uid: number; readonly gid: number }): void {
  if (process.getuid!() !== 0) return;
  chownSync(path, uid, gid);
  if (lstatSync(path).isDirectory()) chmodSync(path, 0o755);
}
