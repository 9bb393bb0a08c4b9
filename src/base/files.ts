import { randomBytes } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  closeSync,
  type Dirent,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { readRegularFile } from './read-file.ts';
import { valueOr } from './value-or.ts';

/** Maximum size of a settings file of git or hopgate. */
const MAX_BYTES = 16 << 20;

/** The text of a regular file; empty if it cannot be read or is larger than a settings file can be. */
export const readTextOrEmpty = (path: string): string =>
  valueOr(() => readRegularFile(path, MAX_BYTES).toString('utf8'), '');

/** True if the path exists. Unlike `existsSync`, it throws if a folder of the path may not be searched. */
export const pathExists = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined;

/**
 * The state of a file, a folder or a link itself; undefined if nothing has this path, or if a name in it is too long
 * for the file system.
 */
export const lstatIfAny = (path: string): Stats | undefined =>
  valueOr(() => lstatSync(path, { throwIfNoEntry: false }), undefined, ['ENAMETOOLONG']);

export const realpathIfAny = (path: string): string | null => valueOr(() => realpathSync(path), null);

/** True if this process may access the path: `constants.R_OK`, … of node:fs. */
export const isAccessible = (path: string, mode: number): boolean =>
  valueOr(() => accessSync(path, mode) === undefined, false);

/** The names in a folder; empty if it cannot be listed. */
export const listFileNames = (folder: string): readonly string[] => valueOr(() => readdirSync(folder), []);

/** The entries of a folder; empty if it cannot be listed. */
export const listFolderEntries = (folder: string): readonly Dirent[] =>
  valueOr(() => readdirSync(folder, { withFileTypes: true }), []);

/** The target of a symbolic link; null if there is no link, or if it cannot be read. */
export const readLinkOrNull = (path: string): string | null => valueOr(() => readlinkSync(path), null);

/** True if the user of this process owns the file; true for every file of a system without user ids. */
export const isOwnFile = ({ uid }: Pick<Stats, 'uid'>): boolean => uid === (process.getuid?.() ?? uid);

/** Closes a folder to other users (0700). Returns the problem if the path is not a folder of this user; else null. */
export function makeFolderPrivate(folder: string): string | null {
  const stat = lstatSync(folder);
  if (!stat.isDirectory()) return 'not a folder';
  if (!isOwnFile(stat)) return `owned by user ${stat.uid}, not by you`;
  if ((stat.mode & 0o077) !== 0) chmodSync(folder, 0o700);
  return null;
}

/** Passes an open file to `use`, and closes it afterwards. */
export function withOpenFile<T>(fd: number, use: (fd: number) => T): T {
  try {
    return use(fd);
  } finally {
    closeSync(fd);
  }
}

/** Works as `mkdir -p`. Node's own recursive mkdir never returns for a folder under `/proc` (24.21). */
export function makeFolders(dir: string, mode = 0o777): void {
  if (existsSync(dir)) return;
  const parent = dirname(dir);
  if (parent !== dir) makeFolders(parent, mode);
  valueOr(() => mkdirSync(dir, { mode }), null, ['EEXIST']);
}

/** Creates a file with its whole content. Returns false, and changes nothing, if the file exists. */
export function writeNewFile(file: string, content: string | Uint8Array, mode = 0o600): boolean {
  const made = `${file}.${process.pid}-${randomBytes(6).toString('hex')}`;
  try {
    writeFileSync(made, content, { mode, flag: 'wx' });
    return valueOr(() => linkSync(made, file) === undefined, false, ['EEXIST']);
  } catch (error) {
    throw Object.assign(error as Error, { path: file });
  } finally {
    rmSync(made, { force: true });
  }
}

/**
 * Writes a text to a file that the user named: the complete text or nothing. A link is followed. A device such as
 * /dev/stdout is written to directly; only on a device can an error leave a part of the text.
 */
export function writeNamedFile(file: string, text: string, mode = 0o666): void {
  const found = lstatIfAny(file);
  if (found && !found.isFile()) writeFileSync(file, text);
  else writeAtomically(file, text, found ? found.mode & 0o777 : mode);
}

/** Replaces the text of a file; readers see the old text or the complete new one. */
export function writeAtomically(file: string, text: string, mode = 0o600): void {
  const made = `${file}.${process.pid}-${randomBytes(6).toString('hex')}`;
  try {
    writeFileSync(made, text, { mode, flag: 'wx' });
    renameSync(made, file);
  } catch (error) {
    rmSync(made, { force: true });
    // The error of a full disk names no path, and others name the temporary file.
    throw Object.assign(error as Error, { path: file });
  }
}
