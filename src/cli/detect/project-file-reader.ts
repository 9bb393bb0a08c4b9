import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { listFolderEntries } from '../../base/files.ts';
import { readRegularFile } from '../../base/read-file.ts';
import { valueOr } from '../../base/value-or.ts';
import { MAX_SETTINGS_BYTES } from '../../spec/policy/limits.ts';

/** The detectors' view of a repository's files: root-relative paths with `/`. */
export interface ProjectFileReader {
  /** The text of a file; null if it does not exist or cannot be read. */
  read(path: string): string | null;
  /** The sorted names in a folder, folders with a trailing `/`; `''` is the root. Empty if there is no folder. */
  list(folder: string): readonly string[];
}

export const createProjectFileReader = (root: string): ProjectFileReader => ({
  read: (path) =>
    valueOr(() => readRegularFile(join(root, path), MAX_SETTINGS_BYTES, realpathSync(root)).toString('utf8'), null),
  list: (folder) =>
    listFolderEntries(join(root, folder))
      .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
      .sort(),
});
