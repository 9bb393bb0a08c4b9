import { hash } from 'node:crypto';
import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { lstatIfAny } from '../../base/files.ts';
import { isPathWithin } from '../../base/paths.ts';
import { readRegularFile } from '../../base/read-file.ts';
import { splitWords } from '../../base/text.ts';
import { MAX_SETTINGS_BYTES } from '../../spec/policy/limits.ts';

/** Names of files that pin dependencies, and of manifests that some package managers install from. */
const LOCKS = splitWords(`
  package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock package.json uv.lock poetry.lock Pipfile.lock
  pdm.lock requirements.txt pyproject.toml go.sum go.mod Cargo.lock Cargo.toml Gemfile.lock Gemfile gems.locked gems.rb
  composer.lock composer.json gradle.lockfile build.gradle build.gradle.kts pom.xml mix.lock deno.lock
`);

/**
 * sha256 (hex) of each file in the root that decides about dependencies; the hash of a link includes the name of its
 * target.
 */
export function hashLockFiles(root: string): { readonly [name: string]: string } {
  return Object.fromEntries(
    LOCKS.flatMap((name) => (lstatIfAny(join(root, name)) ? [[name, contentOf(root, name)]] : [])),
  );
}

function contentOf(root: string, name: string): string {
  const path = join(root, name);
  try {
    if (!lstatSync(path).isSymbolicLink()) return hash('sha256', readRegularFile(path, MAX_SETTINGS_BYTES));
    const real = realpathSync(path);
    const content = isPathWithin(root, real)
      ? hash('sha256', readRegularFile(real, MAX_SETTINGS_BYTES))
      : 'outside of the root';
    return `link to ${readlinkSync(path)}: ${content}`;
  } catch {
    return 'not a readable file';
  }
}
