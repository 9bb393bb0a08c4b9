import { closeSync, constants, fstatSync, lstatSync, openSync, realpathSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { valueOr } from '../../base/value-or.ts';

/** A file-system object that a walk holds open: the object itself, never the target of a link. */
export interface Anchor {
  readonly stat: Stats;
  /** Path of this object. If held by descriptor, it stays valid when names change. */
  readonly path: string;
  /** Opens this file or folder; throws {@link AnchorMovedError} if its path leads to another object, or to none. */
  open(flags: number): number;
  /** Throws {@link AnchorMovedError} if a name on the path was replaced since the walk. */
  check(): void;
  close(): void;
}

/** The way in which a path walk holds files and folders open. */
export interface Anchors {
  root(path: string): Anchor;
  /** Holds the entry `name` of a folder without following links, or null. Pass bytes for a name that is not UTF-8. */
  child(folder: Anchor, name: string | Buffer): Anchor | null;
}

/** Thrown if a name refers to another object than at the start of the call. */
export class AnchorMovedError extends Error {
  override readonly name = 'Moved';
}

const { O_RDONLY, O_NOFOLLOW = 0, O_DIRECTORY = 0, O_NONBLOCK = 0 } = constants;
/** Linux's O_PATH, which Node does not export: holds an inode without opening a FIFO or device. */
const O_PATH = 0o10000000;

const ifPresent = <T>(look: () => T): T | null => valueOr(look, null, ['ENOENT']);

/** Holds objects by descriptor, without a race: each step opens one name in a held folder (openat through /proc). */
export const descriptorAnchors: Anchors = {
  root: (path) => anchorOfDescriptor(openSync(path, O_PATH | O_DIRECTORY | O_NOFOLLOW)),
  child: (folder, name) => ifPresent(() => anchorOfDescriptor(openSync(pathWithin(folder, name), O_PATH | O_NOFOLLOW))),
};

const pathWithin = ({ path }: Anchor, name: string | Buffer): string | Buffer =>
  typeof name === 'string' ? `${path}/${name}` : Buffer.concat([Buffer.from(`${path}/`), name]);

function anchorOfDescriptor(fd: number): Anchor {
  const path = `/proc/self/fd/${fd}`;
  try {
    const stat = fstatSync(fd);
    return {
      stat,
      path,
      open: (flags) => openSync(path, flags | O_NONBLOCK),
      check() {},
      close: () => closeSync(fd),
    };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** Fallback without /proc: compares real paths before and after an access. A swap is detected, not prevented. */
export const realPathAnchors: Anchors = {
  root: (path) => anchorOfPath(path, lstatSync(path)),
  child: (folder, name) => {
    // A name that is not UTF-8 cannot be expressed here, so it counts as missing.
    const path = join(folder.path, name.toString());
    const stat = ifPresent(() => lstatSync(path));
    return stat && anchorOfPath(path, stat);
  },
};

function anchorOfPath(path: string, stat: Stats): Anchor {
  const check = () => {
    if (!stat.isSymbolicLink() && ifPresent(() => realpathSync.native(path)) !== path)
      throw new AnchorMovedError(`${path} moved while it was in use`);
  };
  const open = (flags: number) => {
    check();
    const fd = openSync(path, flags | O_NONBLOCK | O_NOFOLLOW);
    try {
      const now = fstatSync(fd);
      if (now.ino !== stat.ino || now.dev !== stat.dev)
        throw new AnchorMovedError(`${path} was replaced while it was in use`);
      check();
      return fd;
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  };
  return { stat, path, open, check, close() {} };
}

/** Holds objects by descriptor if the kernel can open names below a descriptor, else by real path. */
export function defaultAnchors(): Anchors {
  if (process.platform !== 'linux') return realPathAnchors;
  try {
    const root = descriptorAnchors.root('/');
    try {
      closeSync(root.open(O_RDONLY));
      return descriptorAnchors;
    } finally {
      root.close();
    }
  } catch {
    return realPathAnchors;
  }
}
