import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { listFolderEntries, readTextOrEmpty } from '../../base/files.ts';
import { fieldsOf, parseJson } from '../../base/json.ts';

interface PackageManager {
  readonly manifest: string;
  readonly fields: readonly string[];
  /** Names that package managers create when they install the packages, the most usual first. */
  readonly installed: readonly [string, ...string[]];
}

const PACKAGE_MANAGERS: readonly PackageManager[] = [
  {
    manifest: 'package.json',
    fields: ['dependencies', 'devDependencies'],
    installed: ['node_modules', '.pnp.cjs', '.pnp.loader.mjs'],
  },
  { manifest: 'composer.json', fields: ['require-dev'], installed: ['vendor'] },
];

/** A sentence about packages of the root's manifests that were never installed; null if none are missing. */
export function describeMissingPackages(root: string): string | null {
  const found = PACKAGE_MANAGERS.find(({ manifest, fields, installed }) => {
    if (installed.some((name) => existsSync(join(root, name)))) return false;
    const json = fieldsOf(parseJson(readTextOrEmpty(join(root, manifest)), null));
    const hasOtherFolder = fieldsOf(json['config'])['vendor-dir'] !== undefined;
    return !hasOtherFolder && fields.some((field) => Object.keys(fieldsOf(json[field])).length > 0);
  });
  if (found === undefined) return null;
  return `${found.installed[0]} is missing: the packages of ${found.manifest} are not installed.`;
}

/** Matches messages of cargo that looks for the versions of packages. */
const CARGO_RESOLVES = /failed to get `[^`\n]{1,200}` as a dependency/;

/** A sentence about a missing Cargo.lock, without which cargo needs a network; null if it is not missing. */
export function describeMissingCargoLock(root: string, output: string): string | null {
  if (!CARGO_RESOLVES.test(output) || existsSync(join(root, 'Cargo.lock'))) return null;
  return 'Cargo.lock is missing, so cargo looks up the versions of packages: the operator can write it with "cargo fetch".';
}

/** The name of a package in the messages of Python, Node, Ruby, Go and Perl if an import found nothing. */
const IMPORT_NOT_FOUND =
  /no module named ["']?([\w.]{1,200})|cannot find (?:module|package) '(@?\w[^'\n]{0,200})'|cannot load such file -- ([\w/-]{1,200})|no required module provides package ([\w./-]{1,200})|can't locate ([\w/]{1,200})\.pm/gi;

/** Folders in which a repository keeps the modules that its code imports by name. */
const MODULE_FOLDERS = ['', 'src', 'lib', 'tests', 'test', 'spec'];

/** A sentence about an import that a command did not find; null if the repository has a module of that name. */
export function describeMissingImport(root: string, output: string): string | null {
  // The last message counts: a program may have tried another module before.
  const last = [...output.matchAll(IMPORT_NOT_FOUND)].at(-1);
  const name = last?.slice(1).find((each) => each !== undefined);
  if (name === undefined) return null;
  const [first = name] = name.split(/[./]/);
  const isOwn = MODULE_FOLDERS.flatMap((folder) => listFolderEntries(join(root, folder))).some(
    (entry) => entry.name.replace(/\.\w+$/, '') === first,
  );
  return isOwn ? null : `The command did not find ${name}, and the repository has no module of that name.`;
}
