import type { Tree } from '../../src/cli/detect/tree.ts';

/** Files held in memory, by path. */
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
