import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readTextOrEmpty } from '../../base/files.ts';
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
