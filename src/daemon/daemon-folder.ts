import { hash } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { isOwnFile, makeFolderPrivate, makeFolders } from '../base/files.ts';
import { type Env, userStateFolder } from '../base/user-folders.ts';
import { valueOr } from '../base/value-or.ts';

/** Maximum length of a socket path on Linux and macOS, in bytes, without the final zero. */
const MAX_SOCKET_PATH = process.platform === 'linux' ? 107 : 103;

/**
 * The path of the daemon's folder, which has its socket, token and log. Each state home has one: in `$XDG_RUNTIME_DIR`
 * if that is set, otherwise in the state home, or in the system's temporary folder if the path is too long for a
 * socket. {@link ensurePrivateDir} creates it.
 */
export function daemonFolder(env: Env): string {
  const home = userStateFolder(env);
  const name = hash('sha256', home).slice(0, 12);
  const user = process.getuid?.() ?? 0;
  const runtime = env['XDG_RUNTIME_DIR'];
  const candidates = [
    ...(runtime !== undefined && isAbsolute(runtime) && isOwnFolder(runtime) ? [join(runtime, 'hopgate', name)] : []),
    join(home, 'daemon'),
  ];
  const fits = (folder: string) => Buffer.byteLength(join(folder, 'socket')) <= MAX_SOCKET_PATH;
  return candidates.find(fits) ?? join(tmpdir(), `hopgate-${user}-${name}`);
}

/**
 * Creates a folder that is closed to other users (0700) and returns its path.
 * @throws Error if it is a link, not a folder, or owned by another user.
 */
export function ensurePrivateDir(folder: string): string {
  makeFolders(folder, 0o700);
  if (makeFolderPrivate(folder) !== null) throw new Error(`${folder} is not a folder that you own; move it away`);
  return folder;
}

function isOwnFolder(path: string): boolean {
  const stat = valueOr(() => lstatSync(path), null);
  return stat?.isDirectory() === true && isOwnFile(stat);
}
