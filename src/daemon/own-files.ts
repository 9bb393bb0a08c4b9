import { existsSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { isWithin } from '../base/paths.ts';

/** The folder that holds hopgate's package.json. */
export function packageFolder(): string {
  for (let folder = import.meta.dirname; folder !== dirname(folder); folder = dirname(folder))
    if (existsSync(join(folder, 'package.json'))) return folder;
  throw new Error('hopgate cannot find its package.json; install it again');
}

/** The file that Node runs for hooks, run tickets and the daemon: the built one, or the source in a checkout. */
export function entryFile(): string {
  const fromSource = import.meta.filename.endsWith('.ts');
  return join(
    packageFolder(),
    ...(fromSource ? ['src', 'daemon', 'hook', 'hook-main.ts'] : ['dist', 'hook', 'main.cjs']),
  );
}

/** Identifies an installed hopgate by the entry file's path, size and time. The C client computes the same text. */
export function buildId(entry = entryFile()): string {
  const { size, mtimeMs } = statSync(entry);
  return `${encoded(entry)}:${size}:${Math.floor(mtimeMs / 1000)}`;
}

/** Encodes all but printable ASCII as `%XX`, for a header. */
export const encoded = (text: string): string =>
  [...Buffer.from(text)]
    .map((byte) =>
      byte > 0x20 && byte < 0x7f && byte !== 0x25
        ? String.fromCharCode(byte)
        : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
    )
    .join('');

export const decoded = (text: string): string => {
  const bytes = text.replaceAll(/%([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString();
};

/**
 * Root-relative paths of hopgate's own files inside a root: an agent must not write them, because they answer the next
 * hook. `node_modules/hopgate` is protected by its name (see gate/masks.ts); a hopgate that is linked there from
 * another folder of the root is listed here too.
 */
export function protectedPaths(root: string): readonly string[] {
  const folders = [join(root, 'node_modules', 'hopgate'), packageFolder()];
  const real = folders.flatMap((folder) => (existsSync(folder) ? [realpathSync(folder)] : []));
  const inside = real.filter((folder) => isWithin(root, folder)).map((folder) => relative(root, folder));
  return [...new Set(inside.map((way) => way.split(sep).join('/') || '.'))];
}
