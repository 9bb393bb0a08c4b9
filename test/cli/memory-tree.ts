import type { ProjectFileReader } from '../../src/cli/detect/project-file-reader.ts';

/** Files held in memory, by path. */
export function memoryTree(files: { readonly [path: string]: string }): ProjectFileReader {
  const listed = new Map<string, readonly string[]>();
  const list = (folder: string) => {
    const prefix = folder === '' ? '' : `${folder.replace(/\/$/, '')}/`;
    const names = Object.keys(files)
      .filter((path) => path.startsWith(prefix))
      .map((path) => path.slice(prefix.length))
      .map((rest) => (rest.includes('/') ? rest.slice(0, rest.indexOf('/') + 1) : rest));
    return [...new Set(names)].sort();
  };
  return {
    read: (path) => (Object.hasOwn(files, path) ? files[path]! : null),
    list: (folder) => {
      if (!listed.has(folder)) listed.set(folder, list(folder));
      return listed.get(folder)!;
    },
  };
}
