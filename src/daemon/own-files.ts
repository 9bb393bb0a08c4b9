import { existsSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { isWithin } from '../base/paths.ts';

/** The folder that holds hopgate's package.json. */
export function packageFolder(): string {
  for (let folder = import.meta.dirname; folder !== dirname(folder); folder = dirname(folder))
    if (existsSync(join(folder, 'package.json'))) return folder;
  throw new Error('hopgate is not where its package.json is; install it again');
}

/** The one file that Node runs for hooks, runs and the daemon: built, or in a checkout its source. */
export function entryFile(): string {
  const fromSource = import.meta.filename.endsWith('.ts');
  return join(
    packageFolder(),
    ...(fromSource ? ['src', 'daemon', 'hook', 'hook-main.ts'] : ['dist', 'hook', 'main.cjs']),
  );
}

/** Tells one installed hopgate from another, as the C client spells it too: the entry's path, size and time. */
export function buildId(entry = entryFile()): string {
  const { size, mtimeMs } = statSync(entry);
  return `${encoded(entry)}:${size}:${Math.floor(mtimeMs / 1000)}`;
}

/** Everything but printable ASCII as `%XX`: what a header can carry. */
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
 * hopgate's own files beneath a root, root-relative: what an agent must not write, because it answers the next hook. `node_modules/hopgate` is
 * protected by its name (see gate/masks.ts); a hopgate that is linked there from elsewhere beneath the root is named here as well.
 */
export function protectedPaths(root: string): readonly string[] {
  const folders = [join(root, 'node_modules', 'hopgate'), packageFolder()];
  const real = folders.flatMap((folder) => (existsSync(folder) ? [realpathSync(folder)] : []));
  const inside = real.filter((folder) => isWithin(root, folder)).map((folder) => relative(root, folder));
  return [...new Set(inside.map((way) => way.split(sep).join('/') || '.'))];
}
