import { readdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { readRegularFile } from '../../base/read-file.ts';
import { MAX_SETTINGS_BYTES } from '../../spec/policy/limits.ts';

/** A repository's files as the detectors see them: root-relative paths with `/`. */
export interface Tree {
  /** The text of a file; null where there is none (or none that can be read). */
  read(path: string): string | null;
  /** Names in a folder, folders with a trailing `/`, sorted; `''` is the root. Empty where there is no such folder. */
  list(folder: string): readonly string[];
}

/** The files beneath a folder on disk. */
export const diskTree = (root: string): Tree => ({
  read(path) {
    try {
      return readRegularFile(join(root, path), MAX_SETTINGS_BYTES, realpathSync(root)).toString('utf8');
    } catch {
      return null;
    }
  },
  list(folder) {
    try {
      return readdirSync(join(root, folder), { withFileTypes: true })
        .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
        .sort();
    } catch {
      return [];
    }
  },
});

/** Files held in memory, by path: for tests and examples. */
export const memoryTree = (files: { readonly [path: string]: string }): Tree => ({
  read: (path) => (Object.hasOwn(files, path) ? files[path]! : null),
  list(folder) {
    const prefix = folder === '' ? '' : `${folder.replace(/\/$/, '')}/`;
    const names = Object.keys(files)
      .filter((path) => path.startsWith(prefix))
      .map((path) => path.slice(prefix.length))
      .map((rest) => (rest.includes('/') ? rest.slice(0, rest.indexOf('/') + 1) : rest));
    return [...new Set(names)].sort();
  },
});
