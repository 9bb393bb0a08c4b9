import fs from 'node:fs';
import { join, normalize } from 'node:path';
import { lstatIfAny, withOpenFile } from '../../base/files.ts';

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
const MAX_BYTES = 32 << 20;

/** Reads a regular file, through no link, that a command wrote in `folder`. Null if it is missing or too large. */
export function readWrittenFile(folder: string, path: string): string | null {
  const segments = normalize(path)
    .split('/')
    .filter((name) => name !== '' && name !== '.');
  if (segments.length === 0 || segments.includes('..')) return null;
  let here = folder;
  for (const [at, name] of segments.entries()) {
    here = join(here, name);
    const stats = lstatIfAny(here);
    const last = at === segments.length - 1;
    if (!stats || (last ? !stats.isFile() || stats.size > MAX_BYTES : !stats.isDirectory())) return null;
  }
  return withOpenFile(fs.openSync(here, O_RDONLY | O_NOFOLLOW | O_NONBLOCK), (fd) => fs.readFileSync(fd, 'utf8'));
}
