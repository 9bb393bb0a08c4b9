import { isAbsolute, relative, sep } from 'node:path';

/** True for the folder itself and for each path in it. Both are absolute; the file system is not accessed. */
export function isPathWithin(folder: string, path: string): boolean {
  const relativePath = relative(folder, path);
  return (
    relativePath === '' || (relativePath !== '..' && !relativePath.startsWith(`..${sep}`) && !isAbsolute(relativePath))
  );
}
