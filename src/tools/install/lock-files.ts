import { hash } from 'node:crypto';
import { join } from 'node:path';
import { readRegularFile } from '../../base/read-file.ts';
import { MAX_SETTINGS_BYTES } from '../../spec/policy/limits.ts';

/** Files in the root that pin dependencies, and manifests that some package managers install from without one. */
const LOCKS = [
  ...['package-lock.json', 'npm-shrinkwrap.json', 'yarn.lock', 'pnpm-lock.yaml', 'bun.lock', 'package.json'],
  ...['uv.lock', 'poetry.lock', 'Pipfile.lock', 'pdm.lock', 'requirements.txt', 'pyproject.toml'],
  ...['go.sum', 'go.mod', 'Cargo.lock', 'Cargo.toml', 'Gemfile.lock', 'Gemfile', 'composer.lock', 'composer.json'],
  ...['gradle.lockfile', 'build.gradle', 'build.gradle.kts', 'pom.xml', 'mix.lock', 'deno.lock'],
];

/** sha256 (hex) of each file in the root that decides which dependencies are installed. */
export function readLocks(root: string): { readonly [name: string]: string } {
  return Object.fromEntries(
    LOCKS.flatMap((name) => {
      try {
        return [[name, hash('sha256', readRegularFile(join(root, name), MAX_SETTINGS_BYTES))]];
      } catch {
        // It does not exist, or is not a regular file.
        return [];
      }
    }),
  );
}
