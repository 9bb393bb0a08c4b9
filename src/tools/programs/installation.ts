import { existsSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { listFileNames, realpathIfAny } from '../../base/files.ts';
import { isPathWithin } from '../../base/paths.ts';
import { compileMasks } from '../../gate/scope/masks.ts';
import { isSecretName } from '../sandbox/host-secrets.ts';
import type { SandboxMount } from '../sandbox/mount.ts';

const PROGRAM_FOLDERS = ['bin', 'sbin', 'libexec'];
/** Names of folders and files next to `bin`. Every installation has at least one of them. */
const SIGNS = ['lib', 'lib64', 'libexec', 'include', 'share', 'VERSION', 'pyvenv.cfg'];
/** Folders that many programs share, relative to the home folder. */
const SHARED_HOME = ['.local', '.local/share', '.local/lib', '.config', '.cache'];

/** Folders that limit the installations shown in the sandbox: none that contains `home` is shown. */
export interface HiddenFolders {
  readonly home: string;
  /** The repository and hopgate's state. An installation that contains one of them, or lies in one, is not shown. */
  readonly folders: readonly string[];
}

/**
 * The installation that a program belongs to: the folder above `bin`, if it also contains the files that the program
 * loads. Null for a single program, as in `~/bin`, and for a folder with more than one installation, such as the home
 * folder or a workspace of repositories.
 *
 * @example
 * installationOfProgram('/home/me/.nvm/versions/node/v22.3.0/bin/node', kept); // '/home/me/.nvm/versions/node/v22.3.0'
 */
export function installationOfProgram(program: string, hidden: HiddenFolders): string | null {
  const folder = dirname(program);
  if (!PROGRAM_FOLDERS.includes(basename(folder))) return null;
  const stated = dirname(folder);
  const real = realpathIfAny(stated);
  if (real === null || [stated, real].some((each) => isTooWide(each, hidden))) return null;
  if (!SIGNS.some((name) => existsSync(join(real, name)))) return null;
  return listFileNames(real).some((name) => existsSync(join(real, name, '.git'))) ? null : stated;
}

function isTooWide(folder: string, { home, folders }: HiddenFolders): boolean {
  if (folder.split('/').length < 3 || isPathWithin(folder, home)) return true;
  if (SHARED_HOME.some((name) => folder === join(home, name))) return true;
  return folders.some((each) => isPathWithin(folder, each) || isPathWithin(each, folder));
}

/** Mounts an installation read-only, without possible secrets in its topmost folders and without its data in `var`. */
export function installationMounts(folder: string, masks: readonly string[]): readonly SandboxMount[] {
  const masked = compileMasks(masks);
  const hidden = ['', 'etc/'].flatMap((under) =>
    listFileNames(join(folder, under))
      .filter((name) => isSecretName(name) || masked(`${under}${name}`))
      .map((name) => `${under}${name}`),
  );
  return [
    { kind: 'read-only', source: realpathIfAny(folder) ?? folder, target: folder },
    ...hidden.map((name) => emptyMount(join(folder, name))),
    ...(existsSync(join(folder, 'var')) ? [emptyMount(join(folder, 'var'))] : []),
  ];
}

const emptyMount = (target: string): SandboxMount =>
  listFileNames(target).length > 0 ? { kind: 'empty-folder', target } : { kind: 'empty-file', target };

/** True if the user that runs commands (if hopgate runs as root, the repository's owner) may read a file. */
export function isReadableInSandbox(path: string, root: string): boolean {
  const real = realpathIfAny(path);
  if (real === null) return false;
  const { uid, gid } = statSync(root);
  if (process.getuid?.() !== 0 || uid === 0) return true;
  const names = real.split('/').slice(1);
  return names.every((_, at) => {
    const stats = statSync(`/${names.slice(0, at + 1).join('/')}`);
    const shift = stats.uid === uid ? 6 : stats.gid === gid ? 3 : 0;
    return (stats.mode >> shift) & (stats.isDirectory() ? 1 : 4);
  });
}
