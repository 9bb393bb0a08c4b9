import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { Mount } from './mount.ts';
import { readFolder } from './mounts/read-folder.ts';

/** What of `/etc` programs need, to run and to check certificates. Nothing else of it is in a sandbox. */
export const ETC: readonly string[] = [
  ...['alternatives', 'ld.so.cache', 'localtime', 'mime.types', 'crypto-policies'],
  ...['ca-certificates', 'ca-certificates.conf'],
  ...['ssl/certs', 'ssl/openssl.cnf', 'ssl/cert.pem', 'ssl/ca-bundle.pem', 'ssl/ct_log_list.cnf'],
  ...['pki/tls/certs', 'pki/tls/cert.pem', 'pki/tls/openssl.cnf', 'pki/tls/openssl.d', 'pki/tls/ct_log_list.cnf'],
  ...['pki/ca-trust', 'pki/java'],
];

/** Files that hold keys or tokens wherever they lie. */
const SECRET =
  /^(?:\.?(?:npmrc|netrc|pypirc|pgpass|git-credentials)|pip\.conf|gitconfig|credentials(?:\.toml|\.json)?|auth\.json|id_(?:rsa|dsa|ecdsa|ed25519)|.*\.(?:key|p12|pfx)|(?:.*-)?(?:priv)?key\d*\.pem)$/i;
/** Programs and their data: very many files, none of them written by hand. */
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
/** Each is a mount. Where there are more, all of the folder is covered. */
const MOST = 50;

/** What covers the secrets in the folders of the system that every sandbox shows: what not everybody may read, and keys and tokens. */
export function systemSecrets(): Mount[] {
  const etc = ETC.map((name) => `/etc/${name}`);
  return [...etc, '/usr/local'].flatMap((folder) => secretsIn(folder, DEPTH.system, true));
}

/** The same in a toolchain, which may be closed to others as a whole. */
export const toolchainSecrets = (folder: string): Mount[] => secretsIn(folder, DEPTH.toolchain, false);

/** @param openToAll everybody may read the folder, so what not everybody may read in it is a secret */
export function secretsIn(top: string, depth: number, openToAll: boolean): Mount[] {
  const found: Mount[] = [];
  const walk = (folder: string, left: number): void => {
    for (const entry of readFolder(folder)) {
      const target = join(folder, entry.name);
      const isFolder = entry.isDirectory();
      // Where a link leads to is in the sandbox for a reason of its own, or not at all.
      if (entry.isSymbolicLink()) continue;
      if (entry.isSocket() || (!isFolder && SECRET.test(entry.name))) found.push({ kind: 'empty-file', target });
      else if (openToAll && (entry.name === 'private' || !isOpen(target, isFolder)))
        found.push({ kind: isFolder ? 'empty-folder' : 'empty-file', target });
      else if (isFolder && left > 1 && !PROGRAMS.has(entry.name)) walk(target, left - 1);
    }
  };
  walk(top, depth);
  return found.length > MOST && openToAll ? [{ kind: 'empty-folder', target: top }] : found;
}

function isOpen(path: string, isFolder: boolean): boolean {
  const mode = lstatSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  return (mode & (isFolder ? 0o005 : 0o004)) === (isFolder ? 0o005 : 0o004);
}
