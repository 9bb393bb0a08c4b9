import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { Mount } from './mount.ts';
import { readFolder } from './mounts/read-folder.ts';

/** The allow-list for `/etc`: programs need these files to run and to check certificates. A sandbox shows no other. */
export const ETC: readonly string[] = [
  ...['alternatives', 'ld.so.cache', 'localtime', 'mime.types', 'crypto-policies'],
  ...['ca-certificates', 'ca-certificates.conf'],
  ...['ssl/certs', 'ssl/openssl.cnf', 'ssl/cert.pem', 'ssl/ca-bundle.pem', 'ssl/ct_log_list.cnf'],
  ...['pki/tls/certs', 'pki/tls/cert.pem', 'pki/tls/openssl.cnf', 'pki/tls/openssl.d', 'pki/tls/ct_log_list.cnf'],
  ...['pki/ca-trust', 'pki/java'],
];

/** Files that hold keys or tokens in any folder. */
const SECRET =
  /^(?:\.?(?:npmrc|netrc|pypirc|pgpass|git-credentials)|pip\.conf|gitconfig|credentials(?:\.toml|\.json)?|auth\.json|id_(?:rsa|dsa|ecdsa|ed25519)|.*\.(?:key|p12|pfx)|(?:.*-)?(?:priv)?key\d*\.pem)$/i;
/** Folders of programs and their data: very many files, none written by hand. */
const PROGRAMS = new Set([
  'bin',
  'sbin',
  'lib',
  'lib32',
  'lib64',
  'libexec',
  'include',
  'games',
  'man',
  'node_modules',
]);
const DEPTH = { system: 4, toolchain: 2 };
/** Maximum number of covered files, because each is a mount. If there are more, the whole folder is covered. */
const MAX_MOUNTS = 50;

/**
 * Mounts that cover the secrets in the system folders of every sandbox: files that are not world-readable, keys and
 * tokens.
 */
export function systemSecrets(): Mount[] {
  const etc = ETC.map((name) => `/etc/${name}`);
  return [...etc, '/usr/local'].flatMap((folder) => secretsIn(folder, DEPTH.system, true));
}

/** The same for a toolchain. The toolchain as a whole may be closed to other users. */
export const toolchainSecrets = (folder: string): Mount[] => secretsIn(folder, DEPTH.toolchain, false);

/** @param openToAll the folder is world-readable, so a file in it that is not world-readable is a secret */
export function secretsIn(top: string, depth: number, openToAll: boolean): Mount[] {
  const found: Mount[] = [];
  const walk = (folder: string, left: number): void => {
    for (const entry of readFolder(folder)) {
      const target = join(folder, entry.name);
      const isFolder = entry.isDirectory();
      // The target of a link is mounted separately or is not in the sandbox.
      if (entry.isSymbolicLink()) continue;
      if (entry.isSocket() || (!isFolder && SECRET.test(entry.name))) found.push({ kind: 'empty-file', target });
      else if (openToAll && (entry.name === 'private' || !isOpen(target, isFolder)))
        found.push({ kind: isFolder ? 'empty-folder' : 'empty-file', target });
      else if (isFolder && left > 1 && !PROGRAMS.has(entry.name)) walk(target, left - 1);
    }
  };
  walk(top, depth);
  return found.length > MAX_MOUNTS && openToAll ? [{ kind: 'empty-folder', target: top }] : found;
}

function isOpen(path: string, isFolder: boolean): boolean {
  const mode = lstatSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  return (mode & (isFolder ? 0o005 : 0o004)) === (isFolder ? 0o005 : 0o004);
}
