import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { lstatIfAny } from '../../base/files.ts';
import { splitWords } from '../../base/text.ts';
import { valueOr } from '../../base/value-or.ts';
import type { SandboxMount } from './mount.ts';
import { readFolder } from './mounts/read-folder.ts';

/**
 * The allow-list for `/etc`: programs need these files to run and to check certificates. A sandbox shows no other file
 * of `/etc`.
 */
const ETC: readonly string[] = [
  ...splitWords(`
    alternatives ld.so.cache ld.so.conf ld.so.conf.d mime.types crypto-policies services protocols timezone fonts dotnet
    manpath.config groff os-release debian_version lsb-release redhat-release system-release alpine-release
    ca-certificates ca-certificates.conf ssl/certs ssl/openssl.cnf ssl/cert.pem ssl/ca-bundle.pem ssl/ct_log_list.cnf
    pki/tls/certs pki/tls/cert.pem pki/tls/openssl.cnf pki/tls/openssl.d pki/tls/ct_log_list.cnf pki/ca-trust pki/java
  `),
  // `settings.xml` is left out, because it may contain passwords of servers.
  ...splitWords('maven/m2.conf maven/logging php.ini php.d php/php.ini php/conf.d'),
  // Programs for container images. `certs.d` is left out, because it may hold client keys.
  ...['policy.json', 'registries.conf', 'registries.conf.d', 'registries.d'].map((name) => `containers/${name}`),
];

/** Public settings in folders with a version in their name: of Java and of the PHP command line. */
const VERSIONED: readonly { readonly folder: RegExp; readonly names: readonly string[] }[] = [
  { folder: /^java[\w.-]*$/, names: [''] },
  { folder: /^php\d[\d.]*$/, names: ['php.ini', 'conf.d'] },
];

/** The existing paths of `/etc` that every sandbox shows. */
export function etcPaths(): readonly string[] {
  const versioned = readFolder('/etc').flatMap(({ name }) =>
    VERSIONED.flatMap(({ folder, names }) => (folder.test(name) ? names.map((each) => join(name, each)) : [])),
  );
  const php = readFolder('/etc/php').flatMap(({ name }) =>
    /^\d/.test(name) ? ['cli', 'mods-available'].map((each) => join('php', name, each)) : [],
  );
  return [...ETC, ...versioned, ...php].map((name) => `/etc/${name}`).filter((path) => existsSync(path));
}

const SECRET =
  /^(?:\.?(?:npmrc|netrc|pypirc|pgpass|git-credentials)|pip\.conf|gitconfig|\.yarnrc\.yml|credentials(?:\.toml|\.json)?|auth\.json|id_(?:rsa|dsa|ecdsa|ed25519)|.*\.(?:key|p12|pfx)|(?:.*-)?(?:priv)?key\d*\.pem)$/i;
/** True if a file of this name holds keys or tokens in any folder. */
export const isSecretName = (name: string): boolean => SECRET.test(name);
/** A setting of a PHP extension that holds a password or a token. */
const SECRET_SETTING =
  /^[ \t]*[\w.]*(?:pw|pass(?:word|wd|phrase)?|secret|token|licen[sc]e|[._]key)[ \t]*=[ \t]*["']?[^\s"';]/im;
/** Folders that are not searched, because they contain very many files of programs and no hand-written ones. */
const PROGRAMS = new Set(splitWords('bin sbin lib lib32 lib64 libexec include games man node_modules'));
const DEPTH = { system: 4, toolchain: 2 };
/** Maximum number of covered files, because each is a mount. If there are more, the whole folder is covered. */
const MAX_MOUNTS = 50;

/** Mounts that cover secrets in system folders: files that are not world-readable, keys and tokens. */
export function systemSecretMounts(): SandboxMount[] {
  return [...etcPaths(), ...['/usr/local', '/usr/etc'].filter((path) => existsSync(path))].flatMap(
    (path): SandboxMount[] => {
      if (statSync(path).isDirectory()) return secretMountsIn(path, DEPTH.system, true);
      return isSecret(path) || !isOpen(realpathSync(path), false) ? [{ kind: 'empty-file', target: path }] : [];
    },
  );
}

/** Mounts that cover the secrets of a toolchain, which as a whole may be closed to other users. */
export const toolchainSecretMounts = (folder: string): SandboxMount[] => secretMountsIn(folder, DEPTH.toolchain, false);

/**
 * Mounts that cover the secrets in a folder and the folders below it, down to a depth.
 * @param openToAll true if the folder is world-readable, so that a file in it that is not world-readable is a secret
 */
export function secretMountsIn(top: string, depth: number, openToAll: boolean): SandboxMount[] {
  const found: SandboxMount[] = [];
  const walk = (folder: string, left: number): void => {
    for (const entry of readFolder(folder)) {
      const target = join(folder, entry.name);
      const isFolder = entry.isDirectory();
      // A link needs no cover: its target is covered where it is mounted, or is not in the sandbox.
      if (entry.isSymbolicLink()) continue;
      if (entry.isSocket() || (!isFolder && isSecret(target))) found.push({ kind: 'empty-file', target });
      else if (openToAll && (entry.name === 'private' || !isOpen(target, isFolder)))
        found.push({ kind: isFolder ? 'empty-folder' : 'empty-file', target });
      else if (isFolder && left > 1 && !PROGRAMS.has(entry.name)) walk(target, left - 1);
    }
  };
  walk(top, depth);
  return found.length > MAX_MOUNTS && openToAll ? [{ kind: 'empty-folder', target: top }] : found;
}

function isSecret(file: string): boolean {
  if (isSecretName(basename(file))) return true;
  return file.endsWith('.ini') && valueOr(() => SECRET_SETTING.test(readFileSync(file, 'latin1')), true);
}

function isOpen(path: string, isFolder: boolean): boolean {
  const mode = lstatIfAny(path)?.mode ?? 0;
  return (mode & (isFolder ? 0o005 : 0o004)) === (isFolder ? 0o005 : 0o004);
}
