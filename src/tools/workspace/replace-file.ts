import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs';
import { lstatIfAny, withOpenFile } from '../../base/files.ts';
import { isAlive } from '../../base/process.ts';
import { valueOr } from '../../base/value-or.ts';
import { type Anchor, AnchorMovedError, type Anchors } from './anchors.ts';

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0, O_DIRECTORY = 0 } = constants;
const NEW_FILE_MODE = 0o666;
const PERMISSIONS = 0o777;

/**
 * Replaces `name` in a held folder atomically: writes a new file in the same folder, syncs it, and renames it. Keeps
 * the permissions except set-id bits.
 * @param seen the file's state at the check; throws {@link AnchorMovedError} if it has changed since
 */
export function replaceFile(folder: Anchor, name: string, bytes: Uint8Array, seen: Stats | null): void {
  folder.check();
  removeLeftovers(folder);
  const target = `${folder.path}/${name}`;
  const temporary = `${folder.path}/.hopgate-${process.pid}-${randomBytes(8).toString('hex')}.tmp`;
  const fd = openSync(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, seen ? 0o600 : NEW_FILE_MODE);
  try {
    try {
      if (seen) keepOwnerAndMode(fd, seen);
      writeAll(fd, bytes);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    folder.check();
    if (!isSameFile(seen, lstatIfAny(target)))
      throw new AnchorMovedError(`${name} was changed by someone else meanwhile`);
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  rememberState(folder);
  syncFolder(folder);
}

/** Modification times of folders when this process last wrote in them. An unchanged folder need not be read. */
const lastStates = new Map<string, bigint>();
const MAX_STATES = 10_000;

function rememberState(folder: Anchor): void {
  if (lastStates.size >= MAX_STATES) lastStates.clear();
  const { id, modified } = stateOf(folder);
  lastStates.set(id, modified);
}

function stateOf({ path }: Anchor): { readonly id: string; readonly modified: bigint } {
  const { dev, ino, mtimeNs } = statSync(path, { bigint: true });
  return { id: `${dev}:${ino}`, modified: mtimeNs };
}

/** Removes temporary files of killed hopgate processes, if another process changed the folder since the last write. */
function removeLeftovers(folder: Anchor): void {
  const { id, modified } = stateOf(folder);
  if (lastStates.get(id) === modified) return;
  for (const name of readdirSync(folder.path)) {
    const pid = /^\.hopgate-(\d+)-[0-9a-f]{16}\.tmp$/.exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) rmSync(`${folder.path}/${name}`, { force: true });
  }
}

/**
 * Creates nested folders `names` in a held folder and holds the last one.
 * @returns the last folder; `undo` removes the created folders that are still empty; `close` releases the hold
 */
export function makeParentFolders(
  start: Anchor,
  names: readonly string[],
  anchors: Anchors,
): { folder: Anchor; undo(): void; close(): void } {
  const held: Anchor[] = [];
  const made: { in: Anchor; name: string }[] = [];
  const undo = () => {
    for (const { in: parent, name } of made.reverse()) {
      try {
        rmdirSync(`${parent.path}/${name}`);
      } catch {
        return;
      }
    }
  };
  const close = () => {
    for (const anchor of held) anchor.close();
  };
  try {
    let folder = start;
    for (const name of names) {
      folder.check();
      if (makeFolder(`${folder.path}/${name}`)) {
        made.push({ in: folder, name });
        syncFolder(folder);
      }
      const next = anchors.child(folder, name);
      if (next) held.push(next);
      if (!next?.stat.isDirectory()) throw new AnchorMovedError(`${name} was replaced while folders were made`);
      folder = next;
    }
    return { folder, undo, close };
  } catch (error) {
    undo();
    close();
    throw error;
  }
}

/** Returns false if the folder exists. */
const makeFolder = (path: string): boolean => valueOr(() => mkdirSync(path) === undefined, false, ['EEXIST']);

/** Sets the owner and permissions of a file or folder that hopgate created. Set-id bits are dropped. */
export function keepOwnerAndMode(fd: number, { mode, uid, gid }: Pick<Stats, 'mode' | 'uid' | 'gid'>): void {
  const own = fstatSync(fd);
  // Only root may change the owner; otherwise the writer owns the new file.
  if (own.uid !== uid || own.gid !== gid) valueOr(() => fchownSync(fd, uid, gid), null, ['EPERM']);
  fchmodSync(fd, mode & PERMISSIONS);
}

function writeAll(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
}

const isSameFile = (a: Stats | null, b: Stats | undefined): boolean =>
  a === null || b === undefined
    ? a === null && b === undefined
    : a.ino === b.ino && a.dev === b.dev && a.size === b.size && a.mtimeMs === b.mtimeMs;

function syncFolder(folder: Anchor): void {
  if (process.platform === 'win32') return;
  withOpenFile(folder.open(O_RDONLY | O_DIRECTORY), fsyncSync);
}
