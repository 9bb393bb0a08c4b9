import { readdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { readRegularFile } from '../../base/read-file.ts';
import { MAX_SETTINGS_BYTES } from '../../spec/policy/limits.ts';

/** The detectors' view of a repository's files: root-relative paths with `/`. */
export interface Tree {
  /** The text of a file; null if it does not exist or cannot be read. */
  read(path: string): string | null;
  /** The sorted names in a folder, folders with a trailing `/`; `''` is the root. Empty if there is no folder. */
  list(folder: string): readonly string[];
}

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
