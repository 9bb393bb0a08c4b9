import { closeSync, constants, fstatSync, lstatSync, openSync, realpathSync, type Stats } from 'node:fs';
import { join } from 'node:path';

/** Something on disk that a walk has taken hold of, itself and not what a link points to. */
export interface Anchor {
  readonly stat: Stats;
  /** Names this very file or folder. By descriptor it does so whatever happens to the names meanwhile. */
  readonly path: string;
  /** Opens it; throws {@link Moved} if it is not there any more. */
  open(flags: number): number;
  /** Throws {@link Moved} if names changed so that `path` may have meant something else. */
  check(): void;
  close(): void;
}

/** How a walk takes hold of things. */
export interface Anchors {
  root(path: string): Anchor;
  /** The entry `name` of a folder, links not followed; null if there is none. As bytes: a name that need not be UTF-8. */
  child(folder: Anchor, name: string | Buffer): Anchor | null;
}

/** A name changed its meaning while a tool was at work. */
export class Moved extends Error {
  override readonly name = 'Moved';
}

const { O_RDONLY, O_NOFOLLOW = 0, O_DIRECTORY = 0, O_NONBLOCK = 0 } = constants;
/** Linux: a hold on the inode alone, which opens neither FIFO nor device. Node does not name it. */
const O_PATH = 0o10000000;

const ifPresent = <T>(look: () => T): T | null => {
  try {
    return look();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
};

/** Race-free: every step opens one name of a folder that is held by descriptor (openat, by way of /proc). */
export const byDescriptor: Anchors = {
  root: (path) => held(openSync(path, O_PATH | O_DIRECTORY | O_NOFOLLOW)),
  child: (folder, name) => ifPresent(() => held(openSync(within(folder, name), O_PATH | O_NOFOLLOW))),
};

const within = ({ path }: Anchor, name: string | Buffer): string | Buffer =>
  typeof name === 'string' ? `${path}/${name}` : Buffer.concat([Buffer.from(`${path}/`), name]);

function held(fd: number): Anchor {
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

/** Where there is no /proc: real paths, looked at before and after. A swap in between is noticed afterwards, not prevented. */
export const byRealPath: Anchors = {
  root: (path) => named(path, lstatSync(path)),
  child: (folder, name) => {
    // A name that is not UTF-8 is not there: nothing here could say it.
    const path = join(folder.path, name.toString());
    const stat = ifPresent(() => lstatSync(path));
    return stat && named(path, stat);
  },
};

function named(path: string, stat: Stats): Anchor {
  const check = () => {
    if (!stat.isSymbolicLink() && ifPresent(() => realpathSync.native(path)) !== path)
      throw new Moved(`${path} moved while it was in use`);
  };
  const open = (flags: number) => {
    check();
    const fd = openSync(path, flags | O_NONBLOCK | O_NOFOLLOW);
    try {
      const now = fstatSync(fd);
      if (now.ino !== stat.ino || now.dev !== stat.dev) throw new Moved(`${path} was replaced while it was in use`);
      check();
      return fd;
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  };
  return { stat, path, open, check, close() {} };
}

/** The best that this platform has. */
export function defaultAnchors(): Anchors {
  if (process.platform !== 'linux') return byRealPath;
  try {
    const root = byDescriptor.root('/');
    try {
      closeSync(root.open(O_RDONLY));
      return byDescriptor;
    } finally {
      root.close();
    }
  } catch {
    return byRealPath;
  }
}
