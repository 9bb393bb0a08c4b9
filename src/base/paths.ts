import { isAbsolute, relative, sep } from 'node:path';

/** True for the folder itself and for each path in it. Both are absolute; the file system is not accessed. */
export function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}
