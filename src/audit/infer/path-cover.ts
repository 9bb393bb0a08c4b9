/** Maximum length of a readable list; in a longer list, folders replace their files. */
const MAX_PATHS = 8;

const parentFolder = (path: string): string => (path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '');

/**
 * A list of at most {@link MAX_PATHS} files and folders (`src/`) that covers all paths. If there are more paths, the
 * folders of the deepest ones replace them.
 * @example coverPaths(['src/a.ts', 'src/b/c.ts', 'docs/x.md']) // ['docs/x.md', 'src/a.ts', 'src/b/c.ts']
 */
export function coverPaths(paths: Iterable<string>): readonly string[] {
  let covers = [...new Set(paths)];
  while (covers.length > MAX_PATHS) {
    const depth = Math.max(...covers.map((cover) => withoutSlash(cover).split('/').length));
    if (depth === 1) return ['.'];
    const folded = covers.map((cover) => {
      const path = withoutSlash(cover);
      return path.split('/').length === depth ? `${parentFolder(path)}/` : cover;
    });
    covers = [...new Set(folded)];
    covers = covers.filter(
      (cover) => !covers.some((other) => other !== cover && other.endsWith('/') && cover.startsWith(other)),
    );
  }
  return covers.sort();
}

const withoutSlash = (cover: string): string => cover.replace(/\/$/, '');

/** Globs that cover all paths. If there are many, one glob covers all files of a top folder with the same extension. */
export function findCoveringGlobs(paths: Iterable<string>): readonly string[] {
  const all = [...new Set(paths)];
  if (all.length <= MAX_PATHS) return all.sort();
  const groups = Map.groupBy(all, (path) => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    const ending = name.lastIndexOf('.') > 0 ? name.slice(name.lastIndexOf('.')) : '';
    return `${path.includes('/') ? `${path.split('/')[0]}/**/` : ''}*${ending}`;
  });
  const found = [...groups].flatMap(([glob, members]) => (members.length === 1 ? members : [glob]));
  return found.length <= MAX_PATHS * 2 ? found.sort() : coverPaths(all);
}
