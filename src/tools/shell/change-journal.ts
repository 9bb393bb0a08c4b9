import { spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { join } from 'node:path';
import { withOpenFile } from '../../base/files.ts';
import { isAlive } from '../../base/process.ts';
import { valueOr } from '../../base/value-or.ts';
import { keepOwnerAndMode } from '../workspace/replace-file.ts';

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW, O_DIRECTORY, O_NONBLOCK } = fs.constants;
/** Prefix of the name of a journal's folder; changes of commands under such names are dropped. */
export const JOURNAL_PREFIX = '.hopgate-stage-';
const JOURNAL = 'journal.json';
const IDENTITY = 'mark.json';
const CHUNK = 1 << 20;
const BLOCK = 1 << 16;
const ZEROS = Buffer.alloc(BLOCK);
/** Maximum number of files that are fsynced one by one; for more, one sync of the file system is faster. */
const MAX_SINGLE_SYNCS = 32;

/** The owner and mode of a file or folder; its copy gets the same. */
export interface FileOwnership {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

/** One change of the tree. `before` is the sha256 that the file must still have; null if it must not exist. */
export type JournaledChange =
  | ({ readonly do: 'folder'; readonly path: string } & FileOwnership)
  | { readonly do: 'remove-folder'; readonly path: string }
  | { readonly do: 'delete'; readonly path: string; readonly before: string | null }
  | { readonly do: 'link'; readonly path: string; readonly before: string | null; readonly target: string }
  | {
      readonly do: 'put';
      readonly path: string;
      readonly before: string | null;
      readonly staged: string;
      readonly after: string;
    };

/** A folder in the root with a command's new contents and their journal, durable before the first change. */
export interface ChangeJournal {
  readonly folder: string;
  /** Copies a file into the journal's folder. The copy is durable once the journal is committed. */
  add(source: string, like: FileOwnership): { staged: string; after: string };
  /** Writes the journal. After this, {@link findUnfinishedJournals} finds the changes if hopgate is killed. */
  commit(steps: readonly JournaledChange[]): void;
  remove(): void;
}

export function makeJournal(root: string): ChangeJournal {
  const folder = join(root, `${JOURNAL_PREFIX}${process.pid}-${randomBytes(6).toString('hex')}`);
  fs.mkdirSync(folder, { mode: 0o700 });
  const remove = () => fs.rmSync(folder, { recursive: true, force: true });
  try {
    writeDurably(join(folder, IDENTITY), identityOf(folder));
  } catch (error) {
    remove();
    throw error;
  }
  let count = 0;
  return {
    folder,
    add(source, like) {
      count += 1;
      const staged = `${count}`;
      return { staged, after: copyFile(source, join(folder, staged), like) };
    },
    commit(steps) {
      syncFiles(folder, count);
      const path = join(folder, JOURNAL);
      writeDurably(`${path}.new`, JSON.stringify(steps));
      fs.renameSync(`${path}.new`, path);
      syncFolder(folder);
      syncFolder(root);
    },
    remove,
  };
}

/**
 * Journals of processes that have exited. `steps` is null if the journal was not committed, so no step was applied. The
 * folder contains its own inode number; a copy, such as one in a clone, does not match and is ignored.
 */
export function findUnfinishedJournals(
  root: string,
): { readonly folder: string; readonly steps: readonly JournaledChange[] | null }[] {
  return fs
    .readdirSync(root)
    .filter(
      (name) => name.startsWith(JOURNAL_PREFIX) && !isAlive(Number.parseInt(name.slice(JOURNAL_PREFIX.length), 10)),
    )
    .map((name) => join(root, name))
    .filter((folder) => fs.lstatSync(folder).isDirectory() && readText(join(folder, IDENTITY)) === identityOf(folder))
    .map((folder) => ({ folder, steps: readJournal(join(folder, JOURNAL)) }));
}

function identityOf(folder: string): string {
  const { dev, ino, birthtimeMs } = fs.lstatSync(folder);
  return JSON.stringify({ dev, ino, birthtimeMs });
}

/** sha256 (hex) of a regular file; null if nothing has this path, `not a regular file` for a link or special file. */
export function hashFile(path: string): string | null {
  let fd: number;
  try {
    fd = fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    if (code === 'ELOOP' || code === 'ENXIO') return 'not a regular file';
    throw error;
  }
  return withOpenFile(fd, () => {
    if (!fs.fstatSync(fd).isFile()) return 'not a regular file';
    const hash = createHash('sha256');
    eachChunk(fd, (chunk) => hash.update(chunk));
    return hash.digest('hex');
  });
}

const syncFolder = (path: string): void => withOpenFile(fs.openSync(path, O_RDONLY | O_DIRECTORY), fs.fsyncSync);

function copyFile(source: string, target: string, like: FileOwnership): string {
  const from = fs.openSync(source, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  const to = fs.openSync(target, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    if (!fs.fstatSync(from).isFile()) throw new Error(`[tools/shell] ${source} is not a regular file`);
    const hash = createHash('sha256');
    let size = 0;
    eachChunk(from, (chunk) => {
      hash.update(chunk);
      for (let at = 0; at < chunk.length; at += BLOCK) {
        const block = chunk.subarray(at, at + BLOCK);
        // Holes of a sparse file stay holes.
        if (!block.equals(ZEROS.subarray(0, block.length)))
          for (let done = 0; done < block.length; )
            done += fs.writeSync(to, block, done, block.length - done, size + at + done);
      }
      size += chunk.length;
    });
    fs.ftruncateSync(to, size);
    keepOwnerAndMode(to, like);
    return hash.digest('hex');
  } finally {
    fs.closeSync(from);
    fs.closeSync(to);
  }
}

/** Makes the staged files `1` to `count` durable. */
function syncFiles(folder: string, count: number): void {
  if (count > MAX_SINGLE_SYNCS && spawnSync('sync', ['-f', folder], { env: { PATH: '/usr/bin:/bin' } }).status === 0)
    return;
  for (let at = 1; at <= count; at += 1)
    withOpenFile(fs.openSync(join(folder, `${at}`), O_RDONLY | O_NOFOLLOW), fs.fsyncSync);
}

function eachChunk(fd: number, use: (chunk: Buffer) => void): void {
  const buffer = Buffer.allocUnsafe(CHUNK);
  for (let size = fs.readSync(fd, buffer); size > 0; size = fs.readSync(fd, buffer)) use(buffer.subarray(0, size));
}

function writeDurably(path: string, text: string): void {
  withOpenFile(fs.openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600), (fd) => {
    fs.writeFileSync(fd, text);
    fs.fsyncSync(fd);
  });
}

function readJournal(path: string): readonly JournaledChange[] | null {
  const text = readText(path);
  return text === null ? null : (JSON.parse(text) as readonly JournaledChange[]);
}

const readText = (path: string): string | null => valueOr(() => fs.readFileSync(path, 'utf8'), null);
